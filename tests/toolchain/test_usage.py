"""What processes take is seen in /proc: memory, full sockets, and files without a name."""

import os
import socket
from pathlib import Path

import pytest

from jarvis_workers.toolchain.usage import SOCKET_BYTES, machine_is_short_of_memory, usage_of

MEGABYTE = 1 << 20


def test_private_memory_counts() -> None:
    before = usage_of([os.getpid()]).memory
    taken = b"x" * (40 * MEGABYTE)

    assert usage_of([os.getpid()]).memory - before > 30 * MEGABYTE
    assert len(taken) == 40 * MEGABYTE


def test_each_open_socket_counts_as_full_and_once() -> None:
    before = usage_of([os.getpid()]).memory
    pairs = [socket.socketpair() for _ in range(100)]
    again = [end.dup() for pair in pairs for end in pair]

    assert usage_of([os.getpid()]).memory - before == pytest.approx(200 * SOCKET_BYTES, rel=0.2)
    for end in [*again, *(end for pair in pairs for end in pair)]:
        end.close()


def test_a_file_without_a_name_counts_until_it_is_closed(tmp_path: Path) -> None:
    before = usage_of([os.getpid()]).unlinked  # pytest has such files, too
    with (tmp_path / "large").open("wb") as file:
        file.write(b"x" * MEGABYTE)
        file.flush()
        assert usage_of([os.getpid()]).unlinked - before < MEGABYTE
        (tmp_path / "large").unlink()
        assert usage_of([os.getpid()]).unlinked - before >= MEGABYTE
    assert usage_of([os.getpid()]).unlinked - before < MEGABYTE


def test_a_process_that_is_gone_takes_nothing() -> None:
    assert usage_of([1 << 30]) == (0, 0, frozenset())


@pytest.mark.parametrize(("total", "available", "short"), [(24_000, 100, True), (24_000, 200, False), (500, 15, False)])
def test_little_available_memory_is_short(tmp_path: Path, total: int, available: int, short: bool) -> None:
    facts = tmp_path / "meminfo"
    facts.write_text(f"MemTotal:  {total * 1024} kB\nMemFree:  1 kB\nMemAvailable:  {available * 1024} kB\n")

    assert machine_is_short_of_memory(str(facts)) == short
    assert not machine_is_short_of_memory(str(tmp_path / "none"))
