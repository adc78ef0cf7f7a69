"""The clock of the store is set during a run and a process is killed then: it is replaced, the report is the same.

The servers are real, their clock is set by libfaketime.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import select

from jarvis_workers.store.engine import Store, open_store
from jarvis_workers.store.tables import JOB
from tests.bench.trees import make_tree
from tests.chaos.commands import command, crowd, scan_of, until
from tests.chaos.fleet import Fleet, Worker, fleet_of, let_pass
from tests.chaos.test_fleet import last_run, report
from tests.faked_time import SettableClock, settable_clock
from tests.servers import Postgres, Redis, postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES = 60
LEASE_SECONDS, TICK_SECONDS, ELECTION_SECONDS = 4.0, 1.0, 3.0
WORKER_LIMIT = LEASE_SECONDS + 2 * TICK_SECONDS
HOST_LIMIT = WORKER_LIMIT + ELECTION_SECONDS
KILLED_AFTER_SECONDS = 3.0
STEPS = [
    pytest.param(-3600.0, id="-1h"),
    *(
        pytest.param(seconds, id=name, marks=pytest.mark.long)
        for name, seconds in (("-1d", -86400.0), ("-5s", -5.0), ("+1h", 3600.0), ("+1d", 86400.0))
    ),
]
PACE = {
    "JARVIS_LEASE_SECONDS": f"{LEASE_SECONDS:g}",
    "JARVIS_TICK_SECONDS": f"{TICK_SECONDS:g}",
    "JARVIS_SCAN__BATCH_FILES": "1",
    "JARVIS_SCAN__SMALL_FILES": "0",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("clocks") / "tree"
    make_tree(root, FILES)
    return root


@pytest.fixture(scope="module")
def calm(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The report of a run to which nothing happens."""
    with command(tmp_path_factory.mktemp("calm"), "sec", "fast", "-p", str(tree)) as quiet:
        assert quiet.ends()[0] == 0
        return quiet.body()


@pytest.fixture(scope="module")
def bell() -> Iterator[Redis]:
    with redis_server() as server:
        yield server


@pytest.fixture(scope="module")
def clock() -> Iterator[SettableClock]:
    with settable_clock() as clock:
        yield clock


@pytest.fixture(scope="module")
def server(clock: SettableClock) -> Iterator[Postgres]:
    with postgres(clock.environ) as server:
        server.sql("CREATE DATABASE template")
        open_store(server.url("template"), migrate=True).close()
        yield server


@pytest.fixture
def fleet(tmp_path: Path, bell: Redis, server: Postgres, open_stores: Callable[..., Store]) -> Iterator[Fleet]:
    bell.flush()
    # Without the limit on idle transactions, of which the timers of the server see the step.
    store = open_stores(f"{server.url('template')}&options=-cstatement_timeout%3D0")
    with fleet_of(tmp_path, bell, server, store, **PACE) as fleet:
        yield fleet


@pytest.mark.parametrize("seconds", STEPS)
@pytest.mark.parametrize("dies", ["worker", "host"])
def test_the_job_of_a_process_that_dies_after_a_step_is_recovered(
    fleet: Fleet, clock: SettableClock, tree: Path, calm: Any, dies: str, seconds: float
) -> None:
    """A host is a worker and the waiting command, which is or may be the elected controller."""
    submit(fleet, tree)
    parent, _, slot = fleet.catch(dies)
    hit = fleet.hits[-1]
    clock.step(seconds)
    let_pass(KILLED_AFTER_SECONDS)
    began = time.monotonic()
    kill(parent, slot)
    if dies == "host" and fleet.waiting:
        fleet.waiting.kill()
        fleet.waiting.wait()
    until(lambda: not is_held(fleet.store, hit.job, hit.fence))
    taken, limit = time.monotonic() - began, WORKER_LIMIT if dies == "worker" else HOST_LIMIT
    print(f"| PostgreSQL | {seconds:+,.0f} s | {dies} killed 3 s later | {taken:.1f} s | {limit:.0f} s |")
    if dies == "host":
        fleet.waiting = fleet.command("runs", "wait", "last", "--quiet")
    fleet.wait(0)

    assert taken <= limit * crowd()
    assert report(fleet, last_run(fleet)) == calm


@pytest.mark.parametrize("seconds", STEPS)
def test_a_fleet_that_was_stopped_during_a_step_goes_on(
    fleet: Fleet, clock: SettableClock, tree: Path, calm: Any, seconds: float
) -> None:
    submit(fleet, tree)
    fleet.catch("stopped")
    hit = fleet.hits[-1]
    assert fleet.waiting
    for process in [*fleet.everybody(), psutil.Process(fleet.waiting.pid)]:
        kill(process)
    clock.step(seconds)
    fleet.workers = [Worker(worker.home, fleet.environ, worker.queues) for worker in fleet.workers]
    fleet.waiting = fleet.command("runs", "wait", "last", "--quiet")
    for worker in fleet.workers:
        until(worker.pools)
    began = time.monotonic()
    until(lambda: not is_held(fleet.store, hit.job, hit.fence))
    taken = time.monotonic() - began
    print(f"| PostgreSQL | {seconds:+,.0f} s | all stopped, then started | {taken:.1f} s | {HOST_LIMIT:.0f} s |")
    fleet.wait(0)

    assert taken <= HOST_LIMIT * crowd()
    assert report(fleet, last_run(fleet)) == calm


@pytest.mark.parametrize("seconds", STEPS)
@pytest.mark.parametrize("stops", ["child", "command", "command before the step"])
def test_a_local_run_goes_on_after_a_step(
    tmp_path: Path,
    tree: Path,
    calm: Any,
    clock: SettableClock,
    open_stores: Callable[..., Store],
    stops: str,
    seconds: float,
) -> None:
    settings = PACE | clock.environ
    (tmp_path / "data").mkdir()
    store = open_stores(f"sqlite:///{tmp_path / 'data' / 'jarvis.db'}")
    with command(tmp_path, "sec", "fast", "-p", str(tree), "-j", "2", **settings) as running:
        until(lambda: _is_submitted(store) and scan_of(store).done >= 3)
        child = running.frozen_child()
        job, fence = until(lambda: held_job(store))
        if stops != "command before the step":
            clock.step(seconds)
            let_pass(KILLED_AFTER_SECONDS)
        began = time.monotonic()
        if stops == "child":
            child.kill()
            taken = _taken(store, job, fence, began)
            code, said = running.ends()
            assert code == 0, said
            body = running.body()
        else:
            running.process.kill()
            running.ends()
    if stops != "child":
        if stops == "command before the step":
            clock.step(seconds)
        with command(tmp_path, "runs", "resume", "last", **settings) as resumed:
            taken = _taken(store, job, fence, began)
            code, said = resumed.ends()
            assert code == 0, said
            body = resumed.body()
    print(f"| SQLite | {seconds:+,.0f} s | {stops} killed | {taken:.1f} s | {WORKER_LIMIT:.0f} s |")

    assert body == calm, said
    assert taken <= WORKER_LIMIT * crowd()


def submit(fleet: Fleet, tree: Path) -> None:
    """Submit a run, and wait until some of its jobs are done."""
    before = last_run(fleet)
    fleet.waiting = fleet.command("sec", "fast", "-p", str(tree), "-q", "-o", "report.json")
    until(lambda: last_run(fleet) != before and scan_of(fleet.store).done >= 3)


def kill(*processes: psutil.Process) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes)


def held_job(store: Store) -> tuple[int, int] | None:
    """Return id and fence of a scan job that is executed."""
    with store.read() as session:
        running = select(JOB.c.id, JOB.c.fence).where(JOB.c.state == "running", JOB.c.queue == "scan")
        row = session.execute(running.order_by(JOB.c.id).limit(1)).first()
    return (row.id, row.fence) if row else None


def is_held(store: Store, job: int, fence: int) -> bool:
    """Return whether a claim is valid."""
    with store.read() as session:
        ours = (JOB.c.id == job) & (JOB.c.fence == fence) & (JOB.c.state == "running")
        return session.execute(select(JOB.c.id).where(ours)).first() is not None


def _taken(store: Store, job: int, fence: int, began: float) -> float:
    until(lambda: not is_held(store, job, fence))
    return time.monotonic() - began


def _is_submitted(store: Store) -> bool:
    with store.read() as session:
        return session.execute(select(JOB.c.id).limit(1)).first() is not None
