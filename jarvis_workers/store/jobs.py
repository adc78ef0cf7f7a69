"""The job queue in the store: plan, claim, renew, release, fail and commit jobs.

The job table is a state machine with leases: pending, sent, running, then done, failed or cancelled. Each claim
increments the job's fencing token; the holder of an older token cannot change the job.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, bindparam, case, func, or_, select, update

from jarvis_workers.store import artifacts, transcripts
from jarvis_workers.store.crash_attribution import room_for_suspects
from jarvis_workers.store.domain_results import write_results
from jarvis_workers.store.queues import has_conversations
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import changed, insert_missing, now
from jarvis_workers.store.tables import ACTIVE_RUNS, HEAVIEST_FIRST, IDLE, JOB, RUN, WAITING_JOBS
from jarvis_workers.store.values import Claimed, Finished, NewJob, RecoveredJob, StageJob

ATTEMPTS = 3
BACK_OFF_SECONDS = 1.0
# The wait before the last attempt, which is the longest.
LONGEST_WAIT_SECONDS = BACK_OFF_SECONDS * 4 ** (ATTEMPTS - 2)


def insert_jobs(session: Session, run_id: str, stage: str, jobs: Sequence[NewJob]) -> None:
    """Insert jobs into a stage, or into the stage that a job names; jobs whose input is already planned are skipped.

    The jobs are due immediately: their waiting time is counted from `not_before`, which is set to now.
    """
    insert_missing(session, JOB, [_row(run_id, stage, job) for job in jobs], not_before=now(session))


def is_due(session: Session) -> ColumnElement[bool]:
    """Return whether the wait of a job is over; a longer one than any wait began before the clock was set back."""
    return or_(JOB.c.not_before <= now(session), JOB.c.not_before > now(session) + LONGEST_WAIT_SECONDS)


def plan_more(session: Session, planner: Claimed, jobs: Sequence[NewJob]) -> bool:
    """Insert a chunk of the jobs of a plan job; return False if the plan job's lease was lost."""
    if not hold(session, [planner]):
        return False
    insert_jobs(session, planner.run_id, planner.stage, jobs)
    return True


def claim_many(
    session: Session, *, executor: str, queue: str, worker_id: str, process: str, limit: int, lease_seconds: float
) -> list[Claimed]:
    """Claim up to `limit` waiting jobs of a queue for one process, the heaviest first.

    Only active runs of `executor` are considered. A job that crashed before shares its process with a limited number of
    suspects (`crash_attribution.ROOM`); suspects without room do not block later jobs.
    """
    waiting = (
        select(JOB.c.id, JOB.c.crashes)
        .join(RUN, RUN.c.id == JOB.c.run_id)
        .where(RUN.c.executor == executor, RUN.c.state.in_(ACTIVE_RUNS))
        .where(JOB.c.queue == queue, JOB.c.state.in_(WAITING_JOBS), is_due(session))
        .order_by(*HEAVIEST_FIRST)
        .limit(limit)
        .with_for_update(skip_locked=True, of=JOB)
    )
    waiting_jobs = [(row.id, row.crashes) for row in session.execute(waiting)]
    ids = room_for_suspects(session, process, waiting_jobs)
    if len(ids) < len(waiting_jobs):
        innocent = [row.id for row in session.execute(waiting.where(JOB.c.crashes == 0)) if row.id not in ids]
        ids += innocent[: limit - len(ids)]
    if not ids:
        return []
    return take(session, JOB.c.id.in_(ids), worker_id=worker_id, process=process, lease_seconds=lease_seconds)


def take(
    session: Session, which: ColumnElement[bool], *, worker_id: str, process: str, lease_seconds: float
) -> list[Claimed]:
    """Claim the waiting jobs selected by `which`, by compare-and-set, the heaviest first."""
    claim = (
        update(JOB)
        .where(which, JOB.c.state.in_(WAITING_JOBS))
        .values(
            state="running",
            fence=JOB.c.fence + 1,
            lease_until=now(session) + lease_seconds,
            lease_seconds=lease_seconds,
            worker_id=worker_id,
            process=process,
            started_at=now(session),
        )
        .returning(*[JOB.c[name] for name in Claimed._fields], JOB.c.weight)
    )
    rows = sorted(session.execute(claim), key=lambda row: (-row.weight, row.id))
    return [_claimed(row) for row in rows]


def renew(session: Session, claims: Collection[Claimed], lease_seconds: float) -> set[int]:
    """Extend leases and return the ids still held. Callers must stop the others: lost, cancelled or paused."""
    going = select(RUN.c.id).where(RUN.c.state.in_(ACTIVE_RUNS))
    renewed: set[int] = set()
    for fence, ids in _by_fence(claims).items():
        extend = (
            update(JOB)
            .where(JOB.c.id.in_(ids), JOB.c.fence == fence, JOB.c.state == "running", JOB.c.run_id.in_(going))
            .values(lease_until=now(session) + lease_seconds, lease_seconds=lease_seconds)
            .returning(JOB.c.id)
        )
        renewed |= {row.id for row in session.execute(extend)}
    return renewed


def extend_all(session: Session, slept: float, lease_seconds: float) -> int:
    """Extend the leases of running jobs by `slept` seconds, at most to their length from now; return their number.

    `lease_seconds` is the length of a lease that an earlier version took.
    """
    most = now(session) + func.coalesce(JOB.c.lease_seconds, lease_seconds)
    later = JOB.c.lease_until + slept
    until = case((later < most, later), else_=most)
    running = (JOB.c.state == "running") & (JOB.c.lease_until < most)
    return changed(session, update(JOB).where(running).values(lease_until=until))


def release(session: Session, claims: Collection[Claimed]) -> set[int]:
    """Release jobs without a crash count, on shutdown or pause; return the ids of the jobs that were still held."""
    released: set[int] = set()
    for fence, ids in _by_fence(claims).items():
        back = update(JOB).where(JOB.c.id.in_(ids), JOB.c.fence == fence, JOB.c.state == "running")
        released |= {row.id for row in session.execute(back.values(state="pending", **IDLE).returning(JOB.c.id))}
    return released


def release_worker(session: Session, worker_id: str) -> list[RecoveredJob]:
    """Release the jobs of a worker that has ended, without a crash count."""
    named = select(JOB.c.id, JOB.c.run_id, JOB.c.stage, JOB.c.label, JOB.c.process, JOB.c.fence)
    running = named.where(JOB.c.worker_id == worker_id, JOB.c.state == "running").order_by(JOB.c.id).with_for_update()
    left = [RecoveredJob(**row) for row in session.execute(running).mappings()]
    if left:
        back = update(JOB).where(JOB.c.id.in_([job.id for job in left]))
        session.execute(back.values(state="pending", **IDLE))
    return left


def fail_attempt(session: Session, job: Claimed, reason: str) -> bool:
    """Record a failed attempt; the job is retried, up to ATTEMPTS attempts. Return False if the lease was lost."""
    last = JOB.c.attempts + 1 >= ATTEMPTS
    wait = BACK_OFF_SECONDS * 4**job.attempts
    record = update(JOB).where(JOB.c.id == job.id, JOB.c.fence == job.fence, JOB.c.state == "running")
    outcome = record.values(
        state=case((last, "failed"), else_="pending"),
        finished_at=case((last, now(session))),
        attempts=JOB.c.attempts + 1,
        not_before=now(session) + wait,
        reason=reason,
        **IDLE,
    )
    return changed(session, outcome) == 1


def hold(session: Session, claims: Collection[Claimed]) -> set[int]:
    """Lock jobs until the transaction ends; return the ids of the jobs whose claim is still valid."""
    return {job for job, _ in _hold(session, claims)}


def _hold(session: Session, claims: Collection[Claimed]) -> set[tuple[int, int]]:
    """Lock jobs and return (id, fence) of the valid claims; a process may have a lost and a valid claim on a job."""
    ours = select(JOB.c.id, JOB.c.fence).where(JOB.c.id.in_({job.id for job in claims}), JOB.c.state == "running")
    rows = session.execute(ours.order_by(JOB.c.id).with_for_update(of=JOB))
    return {(row.id, row.fence) for row in rows} & {(job.id, job.fence) for job in claims}


def commit_many(session: Session, finished: Sequence[Finished]) -> set[int]:
    """Commit the results of jobs, their states and child jobs in one transaction; return the accepted ids.

    A job with a newer fencing token is skipped, since another process has claimed it; so is a duplicate.
    """
    current = _hold(session, [entry.job for entry in finished])
    accepted = list(
        {entry.job.id: entry for entry in reversed(finished) if (entry.job.id, entry.job.fence) in current}.values()
    )
    if not accepted:
        return set()
    done = update(JOB).where(JOB.c.id == bindparam("job_id"))
    done = done.values(state="done", finished_at=now(session), reason=None, **IDLE)
    session.connection().execute(done, [_outcome(entry) for entry in accepted])
    for entry in accepted:
        write_results(session, entry.job.run_id, entry.job.id, entry.commit.results)
        artifacts.save(session, entry.job.run_id, entry.artifacts)
        insert_jobs(session, entry.job.run_id, entry.job.stage, entry.commit.children)
    if talked := [entry.job.id for entry in accepted if has_conversations(entry.job.queue)]:
        transcripts.forget_lines(session, talked)
    return {entry.job.id for entry in accepted}


def processes(session: Session, worker_id: str) -> list[str]:
    """Return the names of a worker's processes with running jobs."""
    named = select(JOB.c.process).where(JOB.c.worker_id == worker_id, JOB.c.state == "running").distinct()
    return [name for name in session.execute(named).scalars() if name]


def release_strays(session: Session, worker_id: str, running: Collection[int], process: str | None = None) -> int:
    """Release jobs that the store assigns to a worker, or to one of its processes, but that the worker does not run.

    Such a job was claimed by a statement whose response was lost, or its end was committed by one that the database
    lost. `running` are all jobs whose outcome is not saved yet.
    """
    whose = JOB.c.worker_id == worker_id if process is None else JOB.c.process == process
    unknown = update(JOB).where(whose, JOB.c.state == "running", JOB.c.id.not_in(running))
    return changed(session, unknown.values(state="pending", **IDLE))


def _outcome(entry: Finished) -> dict[str, Any]:
    return {
        "job_id": entry.job.id,
        "files": entry.commit.files,
        "bytes": entry.commit.size,
        "not_checked": len(entry.commit.not_checked),
        "cached": entry.commit.cached,
        "cpu_seconds": entry.commit.cpu_seconds,
        "result": entry.result,
    }


def _row(run_id: str, stage: str, job: NewJob) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "stage": job.stage or stage,
        "step": job.step,
        "queue": job.queue,
        "input_hash": job.input_hash,
        "label": job.label[:200],
        "payload": job.payload,
        "weight": job.weight,
        "state": "pending",
        **{name: 0 for name in ("fence", "attempts", "crashes", "files", "bytes", "not_checked", "cpu_seconds")},
    }


def _claimed(row: Row[Any]) -> Claimed:
    return Claimed(**{name: getattr(row, name) for name in Claimed._fields})


def _by_fence(claims: Collection[Claimed]) -> dict[int, list[int]]:
    grouped: dict[int, list[int]] = {}
    for job in sorted(claims, key=lambda job: job.id):
        grouped.setdefault(job.fence, []).append(job.id)
    return grouped


def outcomes(session: Session, run_id: str, stage: str) -> list[StageJob]:
    """Return the outcomes of a stage's jobs, except its plan job, ordered by id."""
    query = select(*[JOB.c[name] for name in StageJob._fields]).where(
        JOB.c.run_id == run_id, JOB.c.stage == stage, JOB.c.step != "plan"
    )
    return [StageJob(*row) for row in session.execute(query.order_by(JOB.c.id))]


class Over(NamedTuple):
    """A finished job: done or failed, with its start and end times."""

    id: int
    stage: str
    state: str
    reason: str | None
    label: str
    payload: str
    started_at: float | None
    finished_at: float


def over_since(session: Session, run_id: str, names: Sequence[str], moment: float) -> list[Over]:
    """Return the jobs of some stages of a run that have finished since a given time, in order of completion."""
    query = select(*[JOB.c[name] for name in Over._fields]).where(
        JOB.c.run_id == run_id,
        JOB.c.stage.in_(names),
        JOB.c.state.in_(("done", "failed")),
        JOB.c.step != "plan",
        JOB.c.finished_at >= moment,
    )
    return [Over(*row) for row in session.execute(query.order_by(JOB.c.finished_at, JOB.c.id))]


def named(session: Session, run_id: str, queues: Collection[str]) -> list[tuple[int, str, str]]:
    """Return (id, label, state) of the jobs of a run on some queues, except plan jobs."""
    query = select(JOB.c.id, JOB.c.label, JOB.c.state).where(
        JOB.c.run_id == run_id, JOB.c.queue.in_(queues), JOB.c.step != "plan"
    )
    return [(row.id, row.label, row.state) for row in session.execute(query.order_by(JOB.c.id))]


def run_of(session: Session, job_id: int, queues: Collection[str]) -> str | None:
    """Return the run of a job, or None if the job is on none of the queues."""
    query = select(JOB.c.run_id).where(JOB.c.id == job_id, JOB.c.queue.in_(queues), JOB.c.step != "plan")
    return session.execute(query).scalar_one_or_none()
