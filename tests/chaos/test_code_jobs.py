"""A change of code on a fleet goes on in another process, with the edits of the one that was killed."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from tests.agents.loop.server import Body, ModelServer, Step, calls, late, says
from tests.chaos.commands import until
from tests.chaos.conversations import has_heard, rounds, set_model
from tests.chaos.fleet import CONVERSING, Fleet, fleet_of
from tests.store.arrange import job_rows
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

EDITS = 5


def edit(request: Body) -> Step:
    """Replace the number in a file by the next one, EDITS times, and then answer."""
    made = rounds(request)
    change = {"path": "a.c", "search": f"int it = {made};", "replace": f"int it = {made + 1};"}
    return late(0.5, calls("patch", edits=[change]) if made < EDITS else says("Count up"))


def git(place: Path, *words: str) -> str:
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    return subprocess.run(["git", "-C", place, *words], env=environ, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(forever=edit) as server:
        yield server


@pytest.fixture
def fleet(
    tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store], server: ModelServer
) -> Iterator[Fleet]:
    (tmp_path / "a.c").write_text("int it = 0;\n")
    for words in (("init", "-q"), ("add", "a.c")):
        git(tmp_path, *words)
    git(tmp_path, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "first")
    for place in (tmp_path, tmp_path / "worker1", tmp_path / "worker2"):
        set_model(place, server)
    store = open_stores(own_postgres.url("template"))
    with (
        redis_server() as bell,
        fleet_of(tmp_path, bell, own_postgres, store, queues=CONVERSING, HOME=str(tmp_path)) as fleet,
    ):
        yield fleet


def test_the_edits_of_a_killed_worker_are_in_the_commit(fleet: Fleet, server: ModelServer) -> None:
    command = fleet.command("code", "-n", "-r", "Count", "--gate", f"grep -q 'it = {EDITS};' a.c")
    until(has_heard(server, 3))
    with fleet.store.read() as session:
        run = newest(session, 1)[0]
    row = job_rows(fleet.store, run.id, "code")[0]
    psutil.Process(int(row.process.rpartition("/")[2])).kill()

    assert command.wait(120) == 0, fleet.said()
    assert git(fleet.home, "show", f"jarvis/code-{run.id}:a.c") == f"int it = {EDITS};\n"
    assert git(fleet.home, "show", "HEAD:a.c") == (fleet.home / "a.c").read_text() == "int it = 0;\n"
    assert f"accept it with: jarvis code accept {run.id}" in fleet.said()
