"""The cost of a fleet: idle slots, notifications, memory of the broker, and latency of small runs behind large ones."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis

from jarvis_workers.executors.dispatch.broker import Notifier
from jarvis_workers.executors.dispatch.routing import queue_key
from jarvis_workers.executors.dispatch.sender import EXECUTOR, Sender
from jarvis_workers.pipeline.controller import plan_job
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.scan_request import selection_of
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import ScanSettings, load_settings
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store import jobs, runs, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Commit, Finished, Run, WorkerFacts
from tests.bench import dozing
from tests.bench.trees import make_tree
from tests.chaos.commands import PAUSE
from tests.store.arrange import NO_SNAPSHOT, job_rows
from tests.support.plugins import PYTHONPATH
from tests.support.servers import Redis, redis_server

ROOT = Path(__file__).parents[2]
TREE = os.environ.get("BENCH_TREE", "")
DOZES, DOZE_SECONDS = 120, 0.5
MANY_JOBS = int(os.environ.get("BENCH_JOBS", "100000"))
MANY_FILES = int(os.environ.get("BENCH_FILES", "100000"))
BATCH_FILES = ScanSettings().batch_files
SMALL_RUNS, SMALL_FILES = 50, 20
MEGABYTE = 1_000_000
PATIENCE_SECONDS = 120.0
PACE = {"lease_seconds": 30.0, "tick_seconds": 2.0, "resend_seconds": 30.0}

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1200)]


@pytest.fixture
def broker() -> Iterator[Redis]:
    with redis_server() as server:
        yield server


@pytest.fixture
def store(postgres_url: str, open_stores: Callable[..., Store]) -> Store:
    return open_stores(postgres_url)


@pytest.fixture
def environ(tmp_path: Path, broker: Redis, store: Store) -> dict[str, str]:
    """The environment of a worker and of commands."""
    names = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")}
    return names | {
        "PYTHONPATH": PYTHONPATH,
        "JARVIS_DATA_DIR": str(tmp_path / "data"),
        "JARVIS_STORE_URL": store.engine.url.render_as_string(hide_password=False),
        "JARVIS_BLOBS_URL": str(tmp_path / "blobs"),
        "JARVIS_BROKER_URL": broker.url,
        "JARVIS_LOG_LEVEL": "warning",
    }


@contextmanager
def worker(environ: dict[str, str], home: Path) -> Iterator[None]:
    """Run a worker with two slots."""
    process = subprocess.Popen([sys.executable, "-m", dozing.MODULE], env=environ, cwd=home)
    family = psutil.Process(process.pid)
    try:
        yield
    finally:
        for child in family.children(recursive=True) if family.is_running() else []:
            child.kill()
        process.kill()
        process.wait()


def add_dozes(store: Store, run_id: str, many: int, seconds: float) -> None:
    """Insert a planned run whose jobs only sleep."""
    with store.write() as session:
        options = {"jobs": many, "seconds": seconds}
        run = Run(run_id, dozing.KIND, "/", b"/", NO_SNAPSHOT.id, EXECUTOR, "0", options)
        runs.add(session, run, NO_SNAPSHOT, [stage.name for stage in dozing.STAGES])
        jobs.insert_jobs(session, run_id, "doze", [plan_job("doze")])
        (planner,) = jobs.claim_many(
            session, executor=EXECUTOR, queue="control", worker_id="t", process="t", limit=1, lease_seconds=600
        )
        assert jobs.plan_more(session, planner, list(dozing.plan(run, None)))  # type: ignore[arg-type]
        jobs.commit_many(session, [Finished(planner, Commit())])
        runs.start(session, run_id)


def ended(store: Store, run_id: str) -> Run:
    """Wait for the end of a run."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while True:
        with store.read() as session:
            run = runs.get(session, run_id)
        assert run is not None
        if run.ended:
            return run
        assert time.monotonic() < give_up
        PAUSE.wait(0.02)


def test_slots_are_busy(store: Store, environ: dict[str, str], tmp_path: Path) -> None:
    add_dozes(store, "r", DOZES, DOZE_SECONDS)
    with worker(environ, tmp_path):
        assert ended(store, "r").state == "done"
    rows = job_rows(store, "r", "doze")
    span = max(row.finished_at for row in rows) - min(row.started_at for row in rows)
    busy = DOZES * DOZE_SECONDS / (dozing.SLOTS * span)
    print(f"\n{DOZES} jobs of {DOZE_SECONDS} s on {dozing.SLOTS} slots: {span:.2f} s, {busy:.1%} busy")
    assert busy >= 0.97


def test_sending_costs_little_and_redis_stays_small(store: Store, broker: Redis) -> None:
    with store.write() as session:
        workers.touch(session, WorkerFacts("t", "t", 1, "t", "scan", 200, "0"))
    bell = Notifier(broker.url)
    sender = Sender(store, bell, **PACE)
    with redis.Redis(port=broker.port) as client:
        before = used(client)
        add_dozes(store, "r", MANY_JOBS, 0.0)
        most, sent, start = 0, 0, time.process_time()
        while count := sender.send():
            sent += count
            most = max(most, used(client) - before)
            take_all(store, client)
    spent = (time.process_time() - start) / sent
    bell.close()
    print(f"\n{sent:,} jobs sent: {spent * 1000:.2f} ms CPU each; Redis at most {most / MEGABYTE:.1f} MB")
    assert sent == MANY_JOBS
    assert spent <= 0.001
    assert most <= 10 * MEGABYTE


def used(client: "redis.Redis") -> int:
    facts: dict[str, Any] = client.info("memory")  # type: ignore[assignment]
    return int(facts["used_memory"])


def take_all(store: Store, client: "redis.Redis") -> None:
    """Execute all notified jobs immediately."""
    client.delete(queue_key("scan"))
    with store.write() as session:
        session.connection().exec_driver_sql(
            "update job set state = 'done', started_at = sent_at, finished_at = sent_at where state = 'sent'"
        )


@pytest.mark.skipif(not TREE, reason="BENCH_TREE names no tree")
def test_a_scan_over_the_fleet_is_nearly_as_fast_as_on_one_machine(environ: dict[str, str], tmp_path: Path) -> None:
    with worker(environ, tmp_path):
        walls = [(scan(environ, tmp_path, "local"), scan(environ, tmp_path, "cluster")) for _ in range(4)][1:]
    local, cluster = (statistics.median(side) for side in zip(*walls, strict=True))
    print(f"\n{TREE}: local {local:.2f} s, cluster {cluster:.2f} s: {local / cluster:.0%} of its speed; {walls}")
    assert local / cluster >= 0.85


def scan(environ: dict[str, str], home: Path, where: str) -> float:
    """Return the wall time of a scan."""
    command = ["sec", "fast", "-p", TREE, "--where", where, "-j", str(dozing.SLOTS), "-q", "-o", f"{where}.json"]
    start = time.monotonic()
    subprocess.run([sys.executable, "-m", "jarvis_cli", *command], env=environ, cwd=home, check=True)
    return time.monotonic() - start


def test_small_runs_end_soon_behind_a_large_one(store: Store, environ: dict[str, str], tmp_path: Path) -> None:
    large, small = tmp_path / "large", tmp_path / "small"
    make_tree(large, MANY_FILES)
    make_tree(small, SMALL_FILES)
    desk = Desk(store, environ, tmp_path)
    with worker(environ, tmp_path):
        alone = [desk.timed(small, f"alone{number}") for number in range(5)]
        desk.submit(large, "large")
        behind = [desk.timed_behind(large, small, f"behind{number}") for number in range(SMALL_RUNS)]
        together = desk.timed_together(large, small, SMALL_RUNS)
    by_itself = statistics.median(alone)
    print(
        f"\n{SMALL_FILES} files alone {by_itself:.2f} s (of {[f'{one:.2f}' for one in alone]}); behind {MANY_FILES:,}: "
        f"median {statistics.median(behind):.2f} s, worst {max(behind):.2f} s = {max(behind) / by_itself:.1f} times; "
        f"all {SMALL_RUNS} at once: the last after {max(together):.2f} s, the first after {min(together):.2f} s"
    )
    assert max(behind) <= 3 * by_itself


class Desk:
    """Submits runs as a command does."""

    def __init__(self, store: Store, environ: dict[str, str], home: Path) -> None:
        self.store, self.home = store, home
        names = {name: value for name, value in environ.items() if name.startswith("JARVIS_")}
        self.settings = load_settings(environ=names, directory=home)
        self.blobs = open_blobs(environ["JARVIS_BLOBS_URL"], home / "cache")
        self.sender = Sender(store, Notifier(environ["JARVIS_BROKER_URL"]), **PACE)

    def submit(self, tree: Path, run_id: str) -> None:
        selection = selection_of(self.settings)
        given = ScanInput(SecOptions(min_confidence=0.4, batch_files=BATCH_FILES, processes=2))
        submit(
            self.store,
            self.blobs,
            RunRequest(run_id, "sec.fast", tree, selection, EXECUTOR, given),
        )
        self.sender.send()

    def timed(self, tree: Path, run_id: str) -> float:
        """Return the seconds from submit to end."""
        start = time.monotonic()
        self.submit(tree, run_id)
        assert ended(self.store, run_id).state == "done"
        return time.monotonic() - start

    def timed_behind(self, large: Path, small: Path, run_id: str) -> float:
        """Return the seconds of a run behind a large one, which must still be active when the small one ends."""
        with self.store.read() as session:
            waiting = [run for run in runs.newest(session, 100) if run.id.startswith("large") and not run.ended]
        if not waiting:
            self.submit(large, f"large-{run_id}")
        return self.timed(small, run_id)

    def timed_together(self, large: Path, small: Path, many: int) -> list[float]:
        """Return the seconds from submit to end for that many runs submitted at the same time."""
        self.submit(large, "large-together")
        names = [f"together{number}" for number in range(many)]
        for name in names:
            self.submit(small, name)
        ends = [ended(self.store, name) for name in names]
        return [float(run.ended_at or 0) - run.created_at for run in ends]
