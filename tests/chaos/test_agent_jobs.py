"""A conversation on a fleet goes on whatever is killed, forgotten or away, and pays for no answer twice."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from jarvis_workers.runs.conversations import read_answer, read_transcript
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from jarvis_workers.store.values import Run
from tests.agents.loop.server import ModelServer
from tests.chaos.commands import until
from tests.chaos.conversations import (
    ANSWER,
    ROUNDS,
    TASK,
    asked_again,
    has_heard,
    make_sources,
    set_model,
    slow_model,
)
from tests.chaos.fleet import CONVERSING, Fleet, Worker, fleet_of, flush_redis, restart_postgres
from tests.chaos.test_observability import end, tasks, workers_seen
from tests.store.arrange import job_rows
from tests.support.servers import Postgres, free_port, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

LATENCY = 0.5


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with slow_model(LATENCY) as server:
        yield server


@pytest.fixture
def fleet(
    tmp_path: Path, own_postgres: Postgres, open_stores: Callable[..., Store], server: ModelServer
) -> Iterator[Fleet]:
    make_sources(tmp_path / "tree")
    for place in (tmp_path, tmp_path / "worker1", tmp_path / "worker2"):
        set_model(place, server)
    store = open_stores(own_postgres.url("template"))
    settings = {"HOME": str(tmp_path), "FLOWER_UNAUTHENTICATED_API": "true"}
    with (
        redis_server() as bell,
        fleet_of(tmp_path, bell, own_postgres, store, queues=CONVERSING, **settings) as fleet,
    ):
        yield fleet


def submit(fleet: Fleet) -> None:
    """Submit the task and leave it to the workers."""
    command = fleet.command("agent", "-T", TASK, "-p", "tree", "-q", "--detach")
    assert command.wait(60) == 0, fleet.said()


def run_of(fleet: Fleet) -> Run:
    with fleet.store.read() as session:
        return newest(session, 1)[0]


def talk(fleet: Fleet) -> Any:
    """The row of the only conversation."""
    return job_rows(fleet.store, run_of(fleet).id, "converse")[0]


def ended(fleet: Fleet) -> str:
    """Wait for the end; return the answer."""
    until(lambda: run_of(fleet).ended)
    run = run_of(fleet)
    assert run.state == "done", (run, fleet.said())
    answer = read_answer(fleet.store, DirectoryBlobs(fleet.home / "blobs"), run)
    assert answer is not None
    return str(answer["text"])


def pool_of(fleet: Fleet) -> psutil.Process:
    """The process in which the conversation is."""
    return psutil.Process(int(until(lambda: talk(fleet).process).rpartition("/")[2]))


def worker_of(fleet: Fleet) -> Worker:
    """The worker whose process that is."""
    pid = pool_of(fleet).pid
    return next(worker for worker in fleet.workers if pid in [pool.pid for pool in worker.pools()])


def test_a_conversation_is_a_task_in_flower(fleet: Fleet, server: ModelServer) -> None:
    port = free_port()
    flower = fleet.command("worker", "flower", "--port", str(port))
    try:
        until(lambda: workers_seen(port))
        submit(fleet)
        run = run_of(fleet).id
        until(has_heard(server, 2))
        during = until(lambda: conversations(port, run))
        ended(fleet)
        after = until(lambda: [task for task in conversations(port, run) if task["state"] == "SUCCESS"])
    finally:
        end(flower)

    assert [task["state"] for task in during] == ["STARTED"]
    assert len(after) == 1
    assert f"'label': '{TASK}'" in after[0]["kwargs"]
    assert after[0]["worker"].startswith("agent@")
    assert asked_again(server) == 0


def conversations(port: int, run: str) -> list[dict[str, Any]]:
    return [task for task in tasks(port, run) if task["name"] == "agent.converse"]


def test_killed_and_forgotten_in_the_middle_it_goes_on_and_asks_once_more_at_most(
    fleet: Fleet, server: ModelServer
) -> None:
    submit(fleet)
    until(has_heard(server, 3))
    pool_of(fleet).kill()
    until(has_heard(server, 5))
    flush_redis(fleet, random.Random(0))
    answer = ended(fleet)
    transcript = read_transcript(fleet.store, DirectoryBlobs(fleet.home / "blobs"), talk(fleet).id)

    assert answer == ANSWER
    assert len(server.requests) - asked_again(server) == ROUNDS + 1
    assert asked_again(server) <= 1
    assert (talk(fleet).crashes, talk(fleet).fence) == (1, 2)
    assert [record["kind"] for record in transcript].count("answer") == ROUNDS + 1


@pytest.mark.long
def test_a_worker_that_is_told_to_end_hands_its_conversation_on_without_blame(
    fleet: Fleet, server: ModelServer
) -> None:
    submit(fleet)
    until(has_heard(server, 3))
    leaving = worker_of(fleet)
    leaving.process.terminate()
    assert leaving.process.wait(20) == 0
    until(lambda: talk(fleet).process)
    answer = ended(fleet)

    assert answer == ANSWER
    assert (talk(fleet).crashes, talk(fleet).attempts, talk(fleet).fence) == (0, 0, 2)
    assert len(server.requests) - asked_again(server) == ROUNDS + 1
    assert asked_again(server) <= 1


@pytest.mark.long
def test_a_database_that_goes_away_in_the_middle_costs_no_answer(fleet: Fleet, server: ModelServer) -> None:
    submit(fleet)
    until(has_heard(server, 3))
    restart_postgres(fleet, random.Random(0))
    answer = ended(fleet)

    assert answer == ANSWER
    assert len(server.requests) - asked_again(server) == ROUNDS + 1
    assert asked_again(server) <= 1
    assert (talk(fleet).crashes, talk(fleet).attempts) == (0, 0)


@pytest.mark.long
def test_a_model_that_no_worker_has_is_named_once_and_nothing_is_asked(fleet: Fleet, server: ModelServer) -> None:
    set_model(fleet.home, server, name="fast")
    fleet.waiting = fleet.command("agent", "-T", TASK, "-p", "tree", "-o", "answer.json")
    fleet.wait(3)
    run = run_of(fleet)
    reason = 'the converse stage failed: StepFailed: this machine has no model group "fast"; available: local'

    assert (run.state, (run.reason or "").partition("; see")[0]) == ("incomplete", reason)
    assert (fleet.home / "desk" / "stderr").read_text().count(reason) == 1
    assert json.loads((fleet.home / "answer.json").read_text())["run"]["reason"] == run.reason
    assert f"jarvis runs retry {run.id}" in fleet.said()
    assert server.requests == []
