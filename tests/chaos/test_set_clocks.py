"""The clock of the store is set during a run and a process is killed then: it is replaced, the report is the same.

The servers are real, their clock is set by libfaketime. Each case prints a row of a table: what was measured, and the
limit. On a machine with more runnable processes than processors, the limit is multiplied by their ratio (`crowd`).
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import select

from jarvis_workers.pipeline.controller import ELECTION
from jarvis_workers.store.engine import Store, open_store
from jarvis_workers.store.tables import JOB, LEASE
from tests.bench.trees import make_tree
from tests.chaos.commands import command, crowd, scan_of, until
from tests.chaos.fleet import Fleet, Worker, fleet_of, let_pass
from tests.chaos.test_fleet import last_run, report
from tests.support.faked_time import SettableClock, settable_clock
from tests.support.servers import Postgres, Redis, postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timing, pytest.mark.timeout(900)]

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
    held = {(fleet.hits[-1].job, fleet.hits[-1].fence)}
    clock.step(seconds)
    let_pass(KILLED_AFTER_SECONDS)
    began = time.monotonic()
    kill(parent, slot)
    if dies == "host" and fleet.waiting:
        fleet.waiting.kill()
        fleet.waiting.wait()
    taken = until_recovered(fleet.store, held, began)
    if dies == "host":
        fleet.waiting = fleet.command("runs", "wait", "last", "--quiet")
    fleet.wait(0)

    limit = WORKER_LIMIT if dies == "worker" else HOST_LIMIT
    check("PostgreSQL", seconds, f"{dies} killed 3 s later", taken, limit, report(fleet, last_run(fleet)), calm)


@pytest.mark.parametrize("seconds", STEPS)
def test_a_fleet_that_was_stopped_during_a_step_goes_on(
    fleet: Fleet, clock: SettableClock, tree: Path, calm: Any, seconds: float
) -> None:
    """The time that the processes need for their start counts, but on a busy machine it is most of all."""
    submit(fleet, tree)
    fleet.catch("stopped")
    assert fleet.waiting
    kill(*fleet.everybody(), psutil.Process(fleet.waiting.pid))
    held, dead = held_jobs(fleet.store), controller(fleet.store)
    clock.step(seconds)
    began = time.monotonic()
    fleet.workers = [Worker(worker.home, fleet.environ, worker.queues) for worker in fleet.workers]
    fleet.waiting = fleet.command("runs", "wait", "last", "--quiet")
    elected = until_elected(fleet.store, dead)
    taken = until_recovered(fleet.store, held, began)
    since = time.monotonic() - elected
    fleet.wait(0)

    body = report(fleet, last_run(fleet))
    check("PostgreSQL", seconds, "all stopped, since the next controller", since, WORKER_LIMIT, body, calm)
    check("PostgreSQL", seconds, "all stopped, since the start", taken, HOST_LIMIT, body, calm)


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
    """All children are stopped, so that none of them ends its job.

    A resumed command recovers the claims of a dead one, and may end its run before it is elected as controller.
    """
    settings = PACE | clock.environ
    (tmp_path / "data").mkdir()
    store = open_stores(f"sqlite:///{tmp_path / 'data' / 'jarvis.db'}")
    with command(tmp_path, "sec", "fast", "-p", str(tree), "-j", "2", **settings) as running:
        until(lambda: _is_submitted(store) and scan_of(store).done >= 3)
        children = until(lambda: found if len(found := running.children()) == 2 else None)
        for child in children:
            child.send_signal(signal.SIGSTOP)
        if stops != "command before the step":
            clock.step(seconds)
            let_pass(KILLED_AFTER_SECONDS)
        began = time.monotonic()
        if stops == "child":
            held = held_jobs(store)
            kill(*children)
            taken = until_recovered(store, held, began)
            code, said = running.ends()
            assert code == 0, said
            body = running.body()
        else:
            kill(psutil.Process(running.process.pid), *children)
            held = held_jobs(store)
    if stops != "child":
        if stops == "command before the step":
            clock.step(seconds)
        with command(tmp_path, "runs", "resume", "last", **settings) as resumed:
            taken = until_recovered(store, held, began)
            code, said = resumed.ends()
            assert code == 0, said
            body = resumed.body()
    limit = WORKER_LIMIT if stops == "child" else HOST_LIMIT
    check("SQLite", seconds, f"{stops} killed", taken, limit, body, calm)


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


def held_jobs(store: Store) -> set[tuple[int, int]]:
    """Return id and fence of each valid claim."""
    with store.read() as session:
        running = select(JOB.c.id, JOB.c.fence).where(JOB.c.state == "running")
        return {(row.id, row.fence) for row in session.execute(running)}


def controller(store: Store) -> str:
    """Return the holder of the election."""
    with store.read() as session:
        return str(session.execute(select(LEASE.c.holder).where(LEASE.c.name == ELECTION)).scalar_one())


def until_elected(store: Store, dead: str) -> float:
    """Wait for the election of the next controller; return its time."""
    until(lambda: controller(store) != dead)
    return time.monotonic()


def until_recovered(store: Store, held: set[tuple[int, int]], began: float) -> float:
    """Wait until none of these claims is valid; return the seconds since `began`."""
    assert held
    until(lambda: not held & held_jobs(store))
    return time.monotonic() - began


def check(database: str, step: float, case: str, taken: float, limit: float, body: Any, calm: Any) -> None:
    """Print what was measured as a row of a table, and assert it."""
    slower = crowd()
    same = "same report" if body == calm else "another report"
    print(f"\n| {database} | {step:+,.0f} s | {case} | {taken:.1f} s | {limit:g} s | load {slower:.1f} | {same} |")
    assert body == calm
    assert taken <= limit * slower


def _is_submitted(store: Store) -> bool:
    with store.read() as session:
        return session.execute(select(JOB.c.id).limit(1)).first() is not None
