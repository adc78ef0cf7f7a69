"""Create runs in the initial state of a test, and inspect their state."""

from collections.abc import Sequence
from itertools import count
from typing import Any

from sqlalchemy import delete, func, select, update

from jarvis_workers.pipeline.controller import advance, plan_job
from jarvis_workers.sec.stages.results import CandidateResult
from jarvis_workers.sec.store.tables import CANDIDATE
from jarvis_workers.store import crash_attribution, events, jobs, runs, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB, STAGE, WORKER
from jarvis_workers.store.values import (
    AGENT_QUEUE,
    Claimed,
    Commit,
    Finished,
    NewJob,
    Run,
    SnapshotFacts,
    Spot,
    WorkerFacts,
)

STAGES = ("scan", "report")
NO_SNAPSHOT = SnapshotFacts("0" * 64, files=1, bytes=1, not_checked=0)
SPOT = Spot(b"a.c", "unsafe_api", 1, 0.9, "strcpy(a, b)")
_numbers = count(1)


def add_run(
    store: Store, *, run_id: str = "", snapshot: SnapshotFacts = NO_SNAPSHOT, executor: str | None = None
) -> str:
    """Insert a run that is waiting to be planned; return its id."""
    run_id = run_id or f"r{next(_numbers):05d}"
    run = Run(
        id=run_id,
        kind="sec.fast",
        root="/src",
        root_raw=b"/src",
        snapshot_id=snapshot.id,
        executor=executor or f"local:{run_id}",
        version="0",
        options={"min_confidence": 0.0},
    )
    with store.write() as session:
        runs.add(session, run, snapshot, STAGES)
        jobs.insert_jobs(session, run_id, "scan", [plan_job("scan")])
    return run_id


def add_planned_run(store: Store, scans: int, **options: Any) -> str:
    """Insert a run with waiting scan jobs; return its id."""
    run_id = add_run(store, **options)
    (planner,) = claim(store, run_id, queue="control")
    with store.write() as session:
        jobs.plan_more(session, planner, batches(scans))
    commit(store, planner)
    with store.write() as session:
        runs.start(session, run_id)
    return run_id


def batches(scans: int, start: int = 0) -> list[NewJob]:
    """Return scan jobs; equal numbers give equal jobs."""
    return [
        NewJob("scan", "scan", label=f"batch {n}", input_hash=f"{n:064d}", weight=n + 1)
        for n in range(start, start + scans)
    ]


def claim(
    store: Store, run_id: str, *, queue: str = "scan", limit: int = 1, lease: float = 60.0, process: str | None = None
) -> list[Claimed]:
    """Claim jobs of a run by its executor; a negative lease has expired."""
    with store.write() as session:
        run = runs.get(session, run_id)
        assert run is not None
        return jobs.claim_many(
            session,
            executor=run.executor,
            queue=queue,
            worker_id=run.executor.removeprefix("local:"),
            process=process or run_id,
            limit=limit,
            lease_seconds=lease,
        )


def talking(store: Store) -> Claimed:
    """Return the claim of a conversation."""
    run_id = add_planned_run(store, 0)
    with store.write() as session:
        jobs.insert_jobs(session, run_id, "scan", [NewJob("converse", AGENT_QUEUE, "a talk", "0" * 64)])
    return claim(store, run_id, queue=AGENT_QUEUE)[0]


def taken_up(store: Store, lost: Claimed) -> Claimed:
    """Return the claim of a conversation that its process has released."""
    with store.write() as session:
        jobs.release(session, [lost])
    return claim(store, lost.run_id, queue=AGENT_QUEUE)[0]


def commit(store: Store, job: Claimed, *spots: Spot) -> bool:
    """Commit the results of a job; return False if the commit was rejected."""
    with store.write() as session:
        return job.id in jobs.commit_many(session, [Finished(job, Commit(files=1, results=(CandidateResult(spots),)))])


def tick(store: Store, run_id: str) -> None:
    """Advance a run, as a controller does on each tick."""
    with store.write() as session:
        advance(session, run_id)


def run_to_its_end(store: Store, run_id: str) -> Run:
    """Execute all jobs of a run, one after another."""
    while not (run := run_now(store, run_id)).ended:
        for job in [*claim(store, run_id, queue="control"), *claim(store, run_id)]:
            if job.step == "plan":
                with store.write() as session:
                    new = batches(2) if job.stage == "scan" else [NewJob("report", "control", "report", "report")]
                    jobs.plan_more(session, job, new)
            commit(store, job)
        tick(store, run_id)
    return run


def run_now(store: Store, run_id: str) -> Run:
    """Return the current row of the run."""
    with store.read() as session:
        run = runs.get(session, run_id)
    assert run is not None
    return run


def job_rows(store: Store, run_id: str, stage: str | None = "scan", *, plan: bool = False) -> Sequence[Any]:
    """Return the rows of a stage's jobs, either the planning jobs or the others."""
    chosen = select(JOB).where(JOB.c.run_id == run_id, JOB.c.stage == stage, (JOB.c.step == "plan") == plan)
    with store.read() as session:
        return session.execute(chosen.order_by(JOB.c.id)).all()


def states(store: Store, run_id: str, stage: str = "scan") -> list[str]:
    """Return the states of a stage's jobs."""
    return [row.state for row in job_rows(store, run_id, stage)]


def stage_states(store: Store, run_id: str) -> list[str]:
    """Return the states of a run's stages."""
    with store.read() as session:
        return list(
            session.execute(select(STAGE.c.state).where(STAGE.c.run_id == run_id).order_by(STAGE.c.ordinal)).scalars()
        )


def candidate_count(store: Store, run_id: str) -> int:
    """Return the number of candidates of a run."""
    with store.read() as session:
        return int(
            session.execute(
                select(func.count()).select_from(CANDIDATE).where(CANDIDATE.c.run_id == run_id)
            ).scalar_one()
        )


def event_names(store: Store, run_id: str) -> list[str]:
    """Return the names of the events of a run, in order."""
    with store.read() as session:
        return [event["name"] for event in events.read(session, run_id)]


def enrol(store: Store, worker_id: str, host: str = "elsewhere", *, seconds: float = 0.0) -> None:
    """Register a worker whose heartbeat is valid for this many seconds plus a lease."""
    with store.write() as session:
        workers.touch(session, WorkerFacts(worker_id, host, pid=1, birth="", queues="scan", slots=1, version="0"))
        seen = update(WORKER).where(WORKER.c.id == worker_id)
        session.execute(seen.values(seen_at=WORKER.c.seen_at + seconds))


def lose_commit(store: Store, job: int, process: str) -> None:
    """Undo the end of a job but not its claim, as a standby does that was behind, or a restored snapshot."""
    worker, until = process.partition("/")[0], store.now() + 300.0
    held = {"state": "running", "worker_id": worker, "process": process, "lease_until": until, "lease_seconds": 300.0}
    with store.write() as session:
        session.execute(delete(CANDIDATE).where(CANDIDATE.c.job_id == job))
        session.execute(update(JOB).where(JOB.c.id == job).values(held))


def failed_run(store: Store, scans: int = 1) -> str:
    """Return a run that has ended with one failed job."""
    run_id = add_planned_run(store, scans)
    for _ in range(crash_attribution.CRASHES_ALONE):
        claim(store, run_id)
        with store.write() as session:
            crash_attribution.crash_process(session, run_id, "killed by SIGKILL")
    run_to_its_end(store, run_id)
    return run_id
