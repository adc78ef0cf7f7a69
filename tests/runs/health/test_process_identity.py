"""Who is there: a worker is judged only where its process can be seen."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from jarvis_workers.runs.health.process_identity import has_ended, this_worker
from jarvis_workers.store.values import WorkerFacts

THIS = this_worker("ab12", slots=3)


@pytest.fixture
def child() -> Iterator[subprocess.Popen[str]]:
    """A process that says who it is, and ends when its input does."""
    program = (
        "from jarvis_workers.runs.health.process_identity import this_worker\n"
        "worker = this_worker('cd34', 1)\n"
        "print(worker.pid, worker.birth, flush=True)\n"
        "input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


def facts_of(child: subprocess.Popen[str]) -> WorkerFacts:
    assert child.stdout is not None
    pid, birth = child.stdout.readline().split()
    return replace(THIS, pid=int(pid), birth=birth)


def end(child: subprocess.Popen[str]) -> None:
    """Let it end, and leave it a zombie."""
    assert child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)


def test_a_worker_is_named_after_its_host_and_process() -> None:
    assert THIS.id == f"{socket.gethostname()[:24]}-{os.getpid()}-ab12"
    assert (THIS.host, THIS.pid, THIS.slots) == (socket.gethostname(), os.getpid(), 3)
    assert len(THIS.id) <= 64


def test_this_process_is_there() -> None:
    assert not has_ended(THIS)


@pytest.mark.timing
def test_a_process_is_there_until_it_has_ended_and_a_zombie_is_gone(child: subprocess.Popen[str]) -> None:
    worker = facts_of(child)
    assert not has_ended(worker)

    end(child)
    assert has_ended(worker)

    child.wait()
    assert has_ended(worker)


def test_a_later_process_of_the_same_number_is_another() -> None:
    boot, _, machine = THIS.birth.split(":")
    assert has_ended(replace(THIS, birth=f"{boot}:1:{machine}"))


def test_a_process_of_an_earlier_boot_of_this_machine_is_gone() -> None:
    _, start, machine = THIS.birth.split(":")
    assert has_ended(replace(THIS, birth=f"earlier-boot:{start}:{machine}")) == bool(machine)


def test_a_process_that_an_older_version_has_described_is_judged_within_a_boot() -> None:
    boot, start, _ = THIS.birth.split(":")
    assert not has_ended(replace(THIS, birth=f"{boot}:{start}"))
    assert has_ended(replace(THIS, birth=f"{boot}:1"))


@pytest.mark.parametrize(
    ("host", "birth"),
    [
        ("elsewhere", THIS.birth),
        (THIS.host, "another-boot:123"),
        (THIS.host, "another-boot:1:m"),
        (THIS.host, "unknown"),
    ],
    ids=["another host", "another boot", "another machine of this name", "no birth known"],
)
def test_what_cannot_be_seen_from_here_is_not_judged(host: str, birth: str) -> None:
    assert not has_ended(replace(THIS, pid=2**22 + 1, host=host, birth=birth))
