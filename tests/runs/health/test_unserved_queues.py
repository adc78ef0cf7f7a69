"""A run that nobody works on: its queues are named, to people who wait and to those who look."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jarvis_workers.executors.dispatch.broker import Notifier
from jarvis_workers.runs import remote
from jarvis_workers.runs.health.unserved_queues import Absence, describe_missing, missing, unserved
from jarvis_workers.settings import Settings
from jarvis_workers.store import runs, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import WorkerFacts
from tests.store.arrange import add_planned_run, add_run, claim, enrol
from tests.store.clocks import FakeClock
from tests.support.servers import Redis, redis_server

LEASE = 30.0
SCAN = "no worker serves queue scan; start one with: jarvis worker start --queues scan"


@pytest.fixture(scope="module")
def broker() -> Iterator[Redis]:
    with redis_server() as server:
        yield server


def enlist(store: Store, queue: str) -> None:
    with store.write() as session:
        workers.touch(session, WorkerFacts(f"w-{queue}", "host", 1, "", queues=queue, slots=1, version="0"))


@pytest.mark.sample(1)
def test_queues_with_due_jobs_and_no_worker_are_named(store: Store) -> None:
    planned, new = add_planned_run(store, 1, executor="cluster"), add_run(store, executor="cluster")
    enrol(store, "elsewhere")
    assert (unserved(store, planned, LEASE), unserved(store, new, LEASE)) == ([], ["control"])

    with store.write() as session:
        workers.leave(session, "elsewhere")
    assert unserved(store, planned, LEASE) == ["scan"]
    with store.read() as session:
        waiting = runs.get(session, new)
    assert waiting is not None
    assert missing(store, waiting, LEASE) == ["control", "scan"]
    enlist(store, "control")
    assert (unserved(store, new, LEASE), missing(store, waiting, LEASE)) == ([], ["scan"])


def test_a_worker_that_is_not_seen_for_a_lease_is_no_worker(sqlite_url: str, open_stores: Callable[..., Store]) -> None:
    clock = FakeClock()
    store = open_stores(sqlite_url, clock=clock)
    run = add_planned_run(store, 1, executor="cluster")
    enlist(store, "scan")
    assert unserved(store, run, LEASE) == []
    clock.advance(LEASE + 1)
    assert unserved(store, run, LEASE) == ["scan"]


def test_what_runs_or_is_of_a_run_that_is_not_on_is_not_waited_for(store: Store) -> None:
    running, paused = (add_planned_run(store, 1, executor="cluster", run_id=name) for name in ("running", "paused"))
    with store.write() as session:
        runs.pause(session, paused, "no room")
    assert (unserved(store, running, LEASE), unserved(store, paused, LEASE)) == (["scan"], [])
    claim(store, running)
    assert unserved(store, running, LEASE) == []


def test_it_is_told_once_and_only_of_an_absence_that_lasts() -> None:
    told: list[str] = []
    clock = FakeClock()
    absence = Absence(told.append, 10.0, clock.monotonic)
    for queues in (["scan"], [], ["scan"]):
        absence.look(queues)
        clock.advance(9.0)
    assert told == []

    clock.advance(1.0)
    for _ in range(2):
        absence.look(["scan"])
        clock.advance(60.0)
    assert told == [describe_missing(["scan"])] == [SCAN]


class Heard(Exception):
    """What a test waits for has been told."""


def test_who_waits_for_a_run_is_told(store: Store, broker: Redis, tmp_path: Path) -> None:
    run = add_planned_run(store, 1, executor="cluster")
    settings = Settings(data_dir=tmp_path, broker_url=broker.url, tick_seconds=0.05)
    bell = Notifier(broker.url)

    def tell(line: str) -> None:
        raise Heard(line)

    with pytest.raises(Heard, match=SCAN):
        remote.carry_out(settings, store, bell, run, show=lambda *_: None, tell=tell, nobody_seconds=0.1)
    bell.close()
