"""A worker's parent: it looks after its pools, buries their dead, and leaves nothing behind."""

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from jarvis_workers.errors import JarvisError
from jarvis_workers.executors.dispatch.broker import Notification, Notifier
from jarvis_workers.executors.dispatch.pool_config import PoolConfig
from jarvis_workers.executors.dispatch.supervisor import DEATHS_MAX, SETTLED_SECONDS, PoolSupervisor, SupervisorContext
from jarvis_workers.pipeline.controller import plan_job
from jarvis_workers.store import jobs, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import WORKER
from jarvis_workers.store.values import Run, WorkerFacts
from tests.chaos.commands import until
from tests.executors.dispatch import stuck
from tests.store.arrange import NO_SNAPSHOT, add_planned_run, event_names, job_rows
from tests.store.clocks import FakeClock
from tests.support.plugins import PYTHONPATH
from tests.support.servers import Redis, redis_server

pytestmark = pytest.mark.timing

STALLED = 60.0
JOB_LEASE = 5.0
ROOT = Path(__file__).parents[3]


@dataclass
class Stage:
    """A parent of one pool, and what it says."""

    parent: PoolSupervisor
    store: Store
    clock: FakeClock
    heartbeat: Path
    said: list[str]

    @property
    def pid(self) -> int:
        child = self.parent.pools[0].child
        assert child
        return child.pid

    def claim(self, run: str, process: str) -> None:
        with self.store.write() as session:
            found = jobs.claim_many(
                session, executor="local:x", queue="scan", worker_id="w", process=process, limit=1, lease_seconds=60.0
            )
        assert len(found) == 1


@pytest.fixture
def stage(sqlite_url: str, open_stores: Callable[..., Store], redis_here: Redis, tmp_path: Path) -> Iterator[Stage]:
    yield from staged(sqlite_url, open_stores(sqlite_url), redis_here.url, tmp_path)


def staged(store_url: str, store: Store, broker_url: str, home: Path, **told: Any) -> Iterator[Stage]:
    """Set a parent up; its pool is ended after the test."""
    told = {"lease_seconds": 30.0, "job_lease_seconds": 60.0, "tick_seconds": 1.0, "resend_seconds": 60.0} | told
    orders = PoolConfig(broker_url, store_url, str(home / "blobs"), str(home / "cache"), "w", "control", 1, **told)
    facts = WorkerFacts("w", "here", os.getpid(), "", "control", 1, "0")
    said: list[str] = []
    clock, notifier, heartbeat = FakeClock(), Notifier(broker_url), home / "worker-w.alive"
    around = SupervisorContext(
        heartbeat, os.environ | {"PYTHONPATH": PYTHONPATH}, sys.__stderr__.buffer, said.append, STALLED, clock.monotonic
    )
    parent = PoolSupervisor(store, notifier, [(orders, facts)], around)
    try:
        yield Stage(parent, store, clock, heartbeat, said)
    finally:
        for pool in parent.pools:
            if pool.child:
                pool.child.kill()
        notifier.close()


def worker_ids(store: Store) -> list[str]:
    with store.read() as session:
        return [row.id for row in session.execute(WORKER.select())]


def test_a_pool_that_dies_is_started_again_and_its_jobs_are_given_back_with_blame(stage: Stage) -> None:
    run = add_planned_run(stage.store, 1, executor="local:x")
    stage.parent.tick()
    first = stage.pid
    stage.claim(run, f"w/{first}")
    os.kill(first, signal.SIGKILL)
    until(lambda: stage.parent.tick() or stage.pid != first)

    (job,) = job_rows(stage.store, run)
    assert (job.state, job.crashes, job.reason) == ("pending", 1, "crashed: killed by SIGKILL")
    assert event_names(stage.store, run).count("crashed") == 1
    assert stage.said == ["pool control killed by SIGKILL; restarting it"]


def test_only_a_pool_that_keeps_dying_soon_after_its_start_is_given_up(stage: Stage) -> None:
    def die(after: float) -> None:
        stage.parent.pools[0].deaths = DEATHS_MAX
        stage.clock.advance(after)
        first = stage.pid
        os.kill(first, signal.SIGKILL)
        until(lambda: stage.parent.tick() or stage.pid != first)

    stage.parent.tick()
    die(after=SETTLED_SECONDS)
    assert stage.parent.pools[0].deaths == 1
    with pytest.raises(JarvisError, match=f"pool control has died {DEATHS_MAX + 1} times in a row, each time soon"):
        die(after=SETTLED_SECONDS - 1)


def test_a_process_of_a_pool_that_dies_alone_costs_its_jobs_alone(stage: Stage) -> None:
    run = add_planned_run(stage.store, 2, executor="local:x")
    stage.parent.tick()
    gone = psutil.Popen(["true"])
    gone.wait()
    stage.claim(run, f"w/{stage.pid}")
    stage.claim(run, f"w/{gone.pid}")
    stage.parent.tick()

    assert [(job.state, job.crashes) for job in job_rows(stage.store, run)] == [("pending", 1), ("running", 0)]


@pytest.mark.slow
def test_a_job_that_never_ends_is_ended_with_its_process_and_blamed(
    postgres_url: str, open_stores: Callable[..., Store], redis_here: Redis, tmp_path: Path
) -> None:
    store = open_stores(postgres_url)
    with store.write() as session:
        runs.add(session, Run("r1", stuck.KIND, "/", b"/", NO_SNAPSHOT.id, "cluster", "0", {}), NO_SNAPSHOT, ["hang"])
        jobs.insert_jobs(session, "r1", "hang", [plan_job("hang")])
    told = {"job_lease_seconds": JOB_LEASE}
    with contextmanager(staged)(postgres_url, store, redis_here.url, tmp_path, **told) as stage:

        def job() -> Any:
            """Let the parent do a round; return the job's row once it is planned."""
            stage.parent.tick()
            return next(iter(job_rows(store, "r1", "hang")), None)

        until(lambda: (row := job()) and row.process)
        slot = psutil.Process(int(job().process.rpartition("/")[2]))
        until(lambda: job().crashes)
        gone, _ = psutil.wait_procs([slot], timeout=60)

        assert job().reason == "crashed: its process died"
        assert (gone, stage.pid != slot.pid, stage.said) == ([slot], True, [])


def test_a_clean_stop_releases_without_blame_and_leaves_nothing(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "jarvis")
    run = add_planned_run(stage.store, 1, executor="local:x")
    stage.parent.tick()
    pid = stage.pid
    stage.claim(run, f"w/{pid}")
    assert (worker_ids(stage.store), stage.heartbeat.exists()) == (["w"], True)
    stage.parent.stop()

    (job,) = job_rows(stage.store, run)
    assert (job.state, job.crashes, job.attempts) == ("pending", 0, 0)
    told = next(vars(record)["facts"] for record in caplog.records if record.msg == "released")
    assert (told["job"], told["fence"], told["process"]) == (job.id, job.fence, f"w/{pid}")
    assert (worker_ids(stage.store), stage.heartbeat.exists()) == ([], False)
    assert not psutil.pid_exists(stage.pid)


@pytest.mark.slow
def test_a_pool_that_takes_no_work_though_there_is_some_is_ended(stage: Stage) -> None:
    stage.parent.tick()
    first = stage.pid
    os.kill(first, signal.SIGSTOP)
    stage.parent.notifier.notify([Notification("sec.plan", "control", 1, "r", "plan", 1.0)])
    stage.parent.tick()
    stage.clock.advance(STALLED)
    stage.parent.tick()
    assert stage.pid == first
    stage.clock.advance(1)
    until(lambda: stage.parent.tick() or stage.pid != first)

    assert stage.said[0] == "pool control takes no jobs although some are waiting; terminating it"


def test_heartbeats_of_workers_that_are_no_more_are_removed(stage: Stage) -> None:
    old, fresh = stage.heartbeat.with_name("worker-old.alive"), stage.heartbeat.with_name("worker-new.alive")
    for other in (old, fresh):
        other.touch()
    os.utime(old, (0, 0))
    stage.parent.tick()

    assert [path.exists() for path in (stage.heartbeat, fresh, old)] == [True, True, False]


def test_a_worker_survives_its_data_directory_and_its_heartbeat_goes_on_with_it(stage: Stage) -> None:
    home = stage.heartbeat.parent
    aside = home.with_name("aside")
    stage.parent.tick()
    written = stage.heartbeat.stat().st_mtime_ns
    home.rename(aside)
    for _ in range(3):
        stage.parent.tick()
    (said,) = stage.said
    assert said.startswith("FileNotFoundError: ") and "the heartbeat is not written until this is over" in said
    assert (aside / stage.heartbeat.name).stat().st_mtime_ns == written
    aside.rename(home)
    stage.parent.tick()

    assert stage.heartbeat.stat().st_mtime_ns > written
    assert len(stage.said) == 1
    home.rename(aside)
    stage.parent.stop()
    aside.rename(home)


def test_a_worker_without_file_descriptors_goes_on_when_there_are_some(stage: Stage) -> None:
    run = add_planned_run(stage.store, 1, executor="local:x")
    stage.parent.tick()
    stage.claim(run, f"w/{os.getpid()}")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        stage.parent.tick()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    os.utime(stage.heartbeat, (0, 0))
    stage.parent.tick()

    assert [job.crashes for job in job_rows(stage.store, run)] == [0]
    assert stage.heartbeat.stat().st_mtime > 0
    assert any("Too many open files" in said for said in stage.said)


def test_a_broker_that_is_away_is_told_of_once(
    sqlite_url: str, open_stores: Callable[..., Store], tmp_path: Path
) -> None:
    with redis_server() as server:
        for stage in staged(sqlite_url, open_stores(sqlite_url), server.url, tmp_path):
            server.kill()
            for _ in range(3):
                stage.parent.tick()

            (said,) = stage.said
            assert said.endswith("is Redis running? see JARVIS_BROKER_URL; continuing when it is available")
            assert stage.heartbeat.exists()
