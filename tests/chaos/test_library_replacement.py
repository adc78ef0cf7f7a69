"""Library replacement: an interrupted command is resumed, and a fleet gives the results of one machine after a kill."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from tests.agents.loop.server import Body, ModelServer, Step, late, says
from tests.chaos.commands import PATIENCE_SECONDS, crowd, until
from tests.chaos.conversations import asked_again, has_heard, set_model
from tests.chaos.fleet import CONVERSING, Fleet, fleet_of
from tests.store.arrange import job_rows
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

PACKER = Path(__file__).parents[1] / "data" / "c2rust" / "packer"
FILES = ("symbols.jsonl", "translation_order.jsonl", "library_replacements.jsonl")
FIRST_MEMBER = re.compile(r"signatures:\n\n\W(\w+) \| ")
ANSWER_SECONDS = 0.5
JUDGED = 13
INTERRUPTED = 130


def judge(body: Body) -> Step:
    """Replace two functions, and no other."""
    task = next(message["content"] for message in body["messages"] if message["role"] == "user")
    (name,) = FIRST_MEMBER.findall(task)
    replaceable = str(name in ("crc32_of", "package_merge")).lower()
    return late(ANSWER_SECONDS, says(f"<SUMMARY>\nreplaceable: {replaceable}\nlibraries: std\n</SUMMARY>"))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(forever=judge) as server:
        yield server


def execute(home: Path, *arguments: str) -> None:
    """Run a command locally."""
    subprocess.run(
        [sys.executable, "-m", "jarvis_cli", *arguments],
        env=environment(home),
        cwd=home,
        check=True,
        timeout=PATIENCE_SECONDS * crowd(),
    )


def environment(home: Path) -> Mapping[str, str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")}
    return environ | {"JARVIS_DATA_DIR": str(home / "data"), "JARVIS_TICK_SECONDS": "0.1"}


def scanned(home: Path, server: ModelServer) -> Path:
    """Return a project that was scanned; the server is the model of commands in `home`."""
    set_model(home, server)
    project = Path(shutil.copytree(PACKER, home / "packer"))
    execute(home, "c2rust", "scan", "-q", "-p", "packer")
    return project


def results(project: Path) -> list[Any]:
    """Return the files of a project without the time of the run."""
    texts = [(project / ".jarvis" / "c2rust" / name).read_text() for name in FILES]
    return [
        json.loads(re.sub(r'"updated_at": "[^"]+"', '"updated_at": ""', line))
        for line in texts
        for line in line.splitlines()
    ]


def test_ctrl_c_pauses_the_run_and_resume_asks_only_what_is_left(tmp_path: Path, server: ModelServer) -> None:
    project = scanned(tmp_path / "home", server)
    command = subprocess.Popen(
        [sys.executable, "-m", "jarvis_cli", "c2rust", "lib-replace", "-p", "packer"],
        env=environment(tmp_path / "home"),
        cwd=tmp_path / "home",
        stderr=subprocess.PIPE,
        text=True,
    )
    until(has_heard(server, 6))
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=PATIENCE_SECONDS * crowd())

    assert command.returncode == INTERRUPTED, said
    assert "continue with: jarvis runs resume" in said
    assert not (project / ".jarvis" / "c2rust" / "library_replacements.jsonl").exists()
    execute(tmp_path / "home", "runs", "resume", "last", "-q")
    assert len(server.requests) - asked_again(server) == JUDGED
    assert len((project / ".jarvis" / "c2rust" / "library_replacements.jsonl").read_text().splitlines()) == 2


@pytest.fixture
def fleet(
    tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store], server: ModelServer
) -> Iterator[Fleet]:
    for place in ("worker1", "worker2"):
        set_model(tmp_path / place, server)
    store = open_stores(own_postgres.url("template"))
    with redis_server() as bell, fleet_of(tmp_path, bell, own_postgres, store, queues=CONVERSING) as fleet:
        yield fleet


def process_at_work(fleet: Fleet) -> int | None:
    """Return the id of a process that judges a function."""
    with fleet.store.read() as session:
        (run,) = newest(session, 1)
    rows = (row for row in job_rows(fleet.store, run.id, "replace") if row.state == "running" and row.process)
    return next((int(row.process.rpartition("/")[2]) for row in rows), None)


def test_a_fleet_gives_the_results_of_one_machine_after_a_kill(fleet: Fleet, server: ModelServer) -> None:
    alone = scanned(fleet.home / "local", server)
    execute(fleet.home / "local", "c2rust", "lib-replace", "-q", "-p", "packer")
    server.requests.clear()
    scanned(fleet.home, server)
    fleet.waiting = fleet.command("c2rust", "lib-replace", "-q", "-p", "packer")
    until(has_heard(server, 4))
    psutil.Process(until(lambda: process_at_work(fleet))).kill()
    fleet.wait(0)

    assert results(fleet.home / "packer") == results(alone)
    assert len(server.requests) - asked_again(server) == JUDGED
    assert asked_again(server) <= JUDGED
