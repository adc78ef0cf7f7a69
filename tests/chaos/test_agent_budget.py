"""A budget holds on a fleet: the run is paused for all workers, and goes on with more as if nothing had been."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jarvis_workers.runs.conversations import read_answer
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from jarvis_workers.store.values import Run
from tests.agents.loop.counting import counted
from tests.agents.loop.server import Body, ModelServer, Step, calls, says
from tests.chaos.conversations import ANSWER, ROUNDS, TASK, asked_again, make_sources, rounds, set_model
from tests.chaos.fleet import CONVERSING, Fleet, fleet_of
from tests.store.arrange import job_rows
from tests.support.servers import Postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    def answers(request: Body) -> Step:
        said = rounds(request)
        return counted(says(ANSWER) if said == ROUNDS else calls("search_code", pattern=f"word{said}"), request)

    with ModelServer(forever=answers) as server:
        yield server


@pytest.fixture
def fleet(
    tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store], server: ModelServer
) -> Iterator[Fleet]:
    make_sources(tmp_path / "tree")
    for place in (tmp_path, tmp_path / "worker1", tmp_path / "worker2"):
        set_model(place, server)
    store = open_stores(own_postgres.url("template"))
    with (
        redis_server() as bell,
        fleet_of(tmp_path, bell, own_postgres, store, queues=CONVERSING, HOME=str(tmp_path)) as fleet,
    ):
        yield fleet


def run_of(fleet: Fleet) -> Run:
    with fleet.store.read() as session:
        return newest(session, 1)[0]


@pytest.mark.long
def test_a_run_that_has_spent_its_budget_is_paused_on_the_fleet_and_resumed(fleet: Fleet, server: ModelServer) -> None:
    fleet.waiting = fleet.command("agent", "-T", TASK, "-p", "tree", "--budget", "21ktok")
    fleet.wait(3)
    paused, asked = run_of(fleet), len(server.requests)
    (talk,) = job_rows(fleet.store, paused.id, "converse")
    fleet.waiting = fleet.command("runs", "resume", "last", "--budget", "1mtok")
    fleet.wait(0)
    answer = read_answer(fleet.store, DirectoryBlobs(fleet.home / "blobs"), run_of(fleet))

    assert (paused.state, paused.reason) == ("paused", "budget")
    assert (talk.state, talk.crashes, talk.attempts, talk.process) == ("pending", 0, 0, None)
    assert 1 <= asked <= ROUNDS
    assert answer is not None
    assert answer["text"] == ANSWER
    assert (len(server.requests), asked_again(server)) == (ROUNDS + 1, 0)
