"""Hands: a job is done once, its failure is its own, and a store that is away is waited for."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.errors import BrokerUnavailable, StoreFull
from jarvis_workers.executors.dispatch.prefork_task import PreforkRunner, release_lost_jobs
from jarvis_workers.pipeline.outage import Outage, OutageLimits
from jarvis_workers.runs import runs as requests
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.scan_request import blobs_of, selection_of
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs, DirectoryBlobs
from jarvis_workers.snapshots.resources import Resources, open_blobs
from jarvis_workers.store.engine import Store
from tests.bench.trees import make_tree
from tests.chaos.commands import until
from tests.store.arrange import add_run, candidate_count, enrol, job_rows, lose_commit, run_now, states
from tests.support.proxy import proxy_to
from tests.support.servers import Postgres

pytestmark = pytest.mark.timing

FILES = 20


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data")


@pytest.fixture
def run(store: Store, settings: Settings, tmp_path: Path) -> str:
    """A run over a small tree that waits to be planned."""
    make_tree(tmp_path / "tree", FILES)
    request = RunRequest(
        run_id="r1",
        kind="sec.fast",
        path=tmp_path / "tree",
        selection=selection_of(settings),
        executor="cluster",
        run_input=ScanInput(SecOptions(min_confidence=0.0, batch_files=10, batch_bytes=1_000_000, processes=1)),
    )
    return submit(store, blobs_of(settings), request)


def runner(
    store: Store, blobs: Blobs, ring: Callable[[], None] = lambda: None, *, patience: float = 600.0, full: float = 0.0
) -> PreforkRunner:
    enrol(store, "w")
    outage = Outage(lambda _: None, OutageLimits(blobs=patience, full=full, blob_pause=0.0, host_pause=0.0))
    return PreforkRunner("w", 60.0, lambda: (store, Resources(blobs), ring), 30.0, outage=outage)


def other_blobs(tmp_path: Path) -> Blobs:
    """Blobs that a worker with another JARVIS_BLOBS_URL has."""
    blobs = open_blobs(str(tmp_path / "other"), tmp_path / "cache")
    blobs.put(b"another run's")
    return blobs


def all_rows(store: Store, run: str) -> list[Any]:
    return [
        row
        for stage in ("scan", "summarize", "flow", "report")
        for plan in (True, False)
        for row in job_rows(store, run, stage, plan=plan)
    ]


@pytest.mark.sample(1)
def test_a_run_is_done_by_doing_each_job_twice(store: Store, settings: Settings, run: str) -> None:
    rung: list[str] = []
    workman = runner(store, blobs_of(settings), lambda: rung.append("ring"))
    while waiting := [row.id for row in all_rows(store, run) if row.state == "pending"]:
        for job in waiting:
            workman.do(job)
            workman.do(job)

    assert run_now(store, run).state == "done"
    assert {(row.state, row.fence) for row in all_rows(store, run)} == {("done", 1)}
    assert candidate_count(store, run) == FILES // 10
    assert rung


def test_a_job_that_fails_is_recorded_and_tried_again_later(store: Store, run: str, tmp_path: Path) -> None:
    (plan,) = job_rows(store, run, plan=True)
    runner(store, other_blobs(tmp_path)).do(plan.id)

    (plan,) = job_rows(store, run, plan=True)
    assert (plan.state, plan.attempts, plan.crashes, plan.lease_until) == ("pending", 1, 0, None)
    assert plan.reason.startswith("SnapshotDamaged: ")


def test_a_job_is_released_while_no_blob_can_be_read_until_the_patience_ends(
    store: Store, run: str, tmp_path: Path
) -> None:
    (plan,) = job_rows(store, run, plan=True)
    runner(store, open_blobs(str(tmp_path / "empty"), tmp_path / "cache")).do(plan.id)

    (plan,) = job_rows(store, run, plan=True)
    assert (plan.state, plan.attempts, plan.crashes, plan.lease_until) == ("pending", 0, 0, None)

    runner(store, open_blobs(str(tmp_path / "empty"), tmp_path / "cache"), patience=-1.0).do(plan.id)
    (plan,) = job_rows(store, run, plan=True)
    assert (plan.state, plan.attempts, plan.reason.split(":")[0]) == ("pending", 1, "BlobsUnavailable")


@pytest.mark.slow
def test_a_disk_that_is_full_for_a_short_time_pauses_no_run(store: Store, settings: Settings, run: str) -> None:
    workman = runner(store, Full(settings.data_dir / "blobs"), full=60.0)
    finish(workman, store, run, rounds=3)
    assert run_now(store, run).state == "running"

    finish(runner(store, blobs_of(settings)), store, run)
    assert (run_now(store, run).state, {row.attempts for row in all_rows(store, run)}) == ("done", {0})


class Full(DirectoryBlobs):
    """Blobs on a disk without room."""

    def put(self, content: bytes) -> str:
        raise StoreFull(f"{self.root}: No space left on device")


def finish(workman: PreforkRunner, store: Store, run: str, rounds: int = 100) -> None:
    for _ in range(rounds):
        waiting = [row.id for row in all_rows(store, run) if row.state == "pending"]
        for job in waiting:
            workman.do(job)
        if run_now(store, run).state == "paused":
            return


@pytest.mark.slow
def test_a_run_for_whose_results_there_is_no_room_is_paused_and_goes_on_later(
    store: Store, settings: Settings, run: str
) -> None:
    finish(runner(store, Full(settings.data_dir / "blobs")), store, run)

    paused, waiting = run_now(store, run), [row for row in all_rows(store, run) if row.state == "pending"]
    assert paused.state == "paused"
    assert "No space left on device (process w/" in (paused.reason or "")
    assert {(row.attempts, row.crashes, row.lease_until) for row in waiting} == {(0, 0, None)}

    requests.resume(store, paused, paused.executor, 30.0)
    finish(runner(store, blobs_of(settings)), store, run)
    assert (run_now(store, run).state, run_now(store, run).reason) == ("done", None)


def test_a_broker_that_is_away_does_not_undo_a_job(store: Store, settings: Settings, run: str) -> None:
    def away() -> None:
        raise BrokerUnavailable("redis://nowhere: is Redis there?")

    (plan,) = job_rows(store, run, plan=True)
    runner(store, blobs_of(settings), away).do(plan.id)

    assert job_rows(store, run, plan=True)[0].state == "done"
    assert states(store, run) == ["pending"] * (FILES // 10)


def test_a_job_whose_commit_the_database_lost_is_released_by_the_next_claim_of_its_process(
    store: Store, settings: Settings, run: str
) -> None:
    (plan,) = job_rows(store, run, plan=True)
    workman = runner(store, blobs_of(settings))
    workman.do(plan.id)
    first, second = [row.id for row in job_rows(store, run)]
    workman.do(first)
    lose_commit(store, first, workman.process)
    workman.do(second)

    lost, done = job_rows(store, run)
    assert (lost.state, lost.crashes, done.state) == ("pending", 0, "done")
    workman.do(first)
    assert states(store, run) == ["done", "done"]


def test_an_idle_process_releases_a_job_whose_end_the_database_has_lost(
    store: Store, settings: Settings, run: str
) -> None:
    """No further message reaches it: it was the last job."""
    workman = replace(runner(store, blobs_of(settings)), worker_lease_seconds=0.01)
    (plan,) = job_rows(store, run, plan=True)
    workman.do(plan.id)
    lose_commit(store, plan.id, workman.process)
    ends = release_lost_jobs(workman)

    until(lambda: job_rows(store, run, plan=True)[0].state == "pending")
    ends.set()
    (plan,) = job_rows(store, run, plan=True)
    assert plan.crashes == 0


@pytest.mark.slow
def test_a_process_that_executes_a_job_keeps_it(store: Store, settings: Settings, run: str) -> None:
    kept: list[str] = []

    class Asking(DirectoryBlobs):
        """Blobs whose use, in the middle of a job, releases lost jobs."""

        def put(self, content: bytes) -> str:
            workman.release_lost()
            kept.extend(row.state for row in all_rows(store, run) if row.state == "running")
            return super().put(content)

    workman = runner(store, Asking(settings.data_dir / "blobs"))
    finish(workman, store, run)

    assert kept
    assert {(row.state, row.fence) for row in all_rows(store, run)} == {("done", 1)}


def test_a_claim_whose_answer_is_lost_is_claimed_again_at_once(
    postgres_server: Postgres, postgres_url: str, open_stores: Callable[..., Store], tmp_path: Path
) -> None:
    direct = open_stores(postgres_url)
    run = add_run(direct, executor="cluster")
    (plan,) = job_rows(direct, run, plan=True)
    with proxy_to(postgres_server.socket) as proxy:
        store = open_stores(postgres_server.url_of(proxy.port, postgres_url))
        workman = runner(store, other_blobs(tmp_path))
        proxy.lose_answer(b"COMMIT")
        workman.do(plan.id)

    (plan,) = job_rows(direct, run, plan=True)
    assert (plan.state, plan.fence, plan.attempts, plan.crashes) == ("pending", 2, 1, 0)
