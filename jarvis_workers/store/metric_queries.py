"""Aggregates over the whole store for monitoring: jobs, queues, runs, model usage, workers.

Each query reads the store at most once, mostly through indexes, and takes seconds with millions of jobs. The queries
take no locks.
"""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import case, func, or_, select

from jarvis_workers.store.budgets import REASON as BUDGET_REASON
from jarvis_workers.store.model_usage import cost_sum
from jarvis_workers.store.queues import QUEUES
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import is_recent, is_void, now
from jarvis_workers.store.tables import (
    ACTIVE_RUNS,
    JOB,
    LEASE,
    LOST,
    MODEL_CALL,
    OPEN_JOBS,
    RUN,
    WAITING_JOBS,
    WORKER,
)
from jarvis_workers.store.values import ENDED_RUNS

CLUSTER = "cluster"
LOCAL_QUEUE = "local"


class JobCount(NamedTuple):
    """The number of jobs of a stage in a state, over all runs of a kind."""

    kind: str
    stage: str
    state: str
    jobs: int


class QueueDepth(NamedTuple):
    """The jobs of a queue that belong to active runs on the cluster, and the pools that serve it.

    `oldest_seconds` is the time since the oldest waiting job became due, 0 if no job is waiting.
    """

    queue: str
    waiting: int = 0
    running: int = 0
    oldest_seconds: float = 0.0

    @property
    def backlog(self) -> int:
        """The number of jobs that are waiting or running."""
        return self.waiting + self.running


class RunCount(NamedTuple):
    """The number of runs of a kind in a state; `budget` is the number of runs paused by their budget."""

    kind: str
    state: str
    runs: int
    budget: int


class ModelSum(NamedTuple):
    """The usage of a model over all runs; `cached` calls were answered from the answer cache, at no cost.

    A `cost` of None is unknown.
    """

    model: str
    cached: bool
    calls: int
    prompt: int
    prompt_cached: int
    completion: int
    cost: float | None


class WorkerCount(NamedTuple):
    """The living pools of a queue, and their slots; waiting commands count towards the queue `local`."""

    queue: str
    workers: int
    slots: int


class EndedRun(NamedTuple):
    """A finished run; `options` is JSON."""

    id: str
    kind: str
    ended_at: float
    options: str
    state: str


def job_counts(session: Session) -> list[JobCount]:
    """Return the number of jobs by kind, stage and state."""
    by_run = select(JOB.c.run_id, JOB.c.stage, JOB.c.state, func.count().label("jobs"))
    grouped = by_run.group_by(JOB.c.run_id, JOB.c.stage, JOB.c.state).subquery()
    summed = select(RUN.c.kind, grouped.c.stage, grouped.c.state, func.sum(grouped.c.jobs))
    rows = session.execute(
        summed.join(RUN, RUN.c.id == grouped.c.run_id).group_by(RUN.c.kind, grouped.c.stage, grouped.c.state)
    )
    return [JobCount(kind, stage, state, int(jobs)) for kind, stage, state, jobs in rows]


def queue_depths(session: Session) -> list[QueueDepth]:
    """Return the depth of every queue of the cluster."""
    ours = (RUN.c.executor == CLUSTER) & RUN.c.state.in_(ACTIVE_RUNS) & JOB.c.state.in_(OPEN_JOBS)
    counted = select(JOB.c.queue, JOB.c.state, func.count(), func.min(JOB.c.id)).join(RUN, RUN.c.id == JOB.c.run_id)
    rows = session.execute(counted.where(ours).group_by(JOB.c.queue, JOB.c.state)).all()
    ages = _waiting_seconds(session, [row[3] for row in rows if row[1] in WAITING_JOBS])
    return [
        QueueDepth(
            queue,
            waiting=sum(jobs for name, state, jobs, _ in rows if name == queue and state in WAITING_JOBS),
            running=sum(jobs for name, state, jobs, _ in rows if name == queue and state not in WAITING_JOBS),
            oldest_seconds=max([ages.get(job, 0.0) for name, _, _, job in rows if name == queue], default=0.0),
        )
        for queue in QUEUES
    ]


def _waiting_seconds(session: Session, jobs: Iterable[int]) -> dict[int, float]:
    """Return the number of seconds since each job became due; jobs of older versions have no due time."""
    query = select(JOB.c.id, (now(session) - JOB.c.not_before).label("age")).where(JOB.c.id.in_(list(jobs)))
    return {job: max(0.0, float(age)) for job, age in session.execute(query.where(JOB.c.not_before > 0))}


def run_counts(session: Session) -> list[RunCount]:
    """Return the number of runs by kind and state."""
    spent = func.sum(case(((RUN.c.state == "paused") & RUN.c.reason.startswith(BUDGET_REASON), 1), else_=0))
    counted = select(RUN.c.kind, RUN.c.state, func.count(), spent).group_by(RUN.c.kind, RUN.c.state)
    return [RunCount(kind, state, int(runs), int(budget)) for kind, state, runs, budget in session.execute(counted)]


def expired_leases(session: Session) -> int:
    """Return the number of running jobs whose lease has expired and that have not been recovered yet."""
    void = is_void(session, JOB.c.lease_until, JOB.c.lease_seconds)
    late = (JOB.c.state == "running") & or_(JOB.c.lease_until < now(session), void)
    return int(session.execute(select(func.count()).select_from(JOB).where(late)).scalar_one())


def crashed_jobs(session: Session) -> int:
    """Return the number of jobs that lost at least one process or lease."""
    return int(session.execute(select(func.count()).select_from(JOB).where(LOST)).scalar_one())


def controller_seconds(session: Session) -> float:
    """Return the number of seconds since the controller's lease expired; 0 if it is held or was released."""
    silent = select(now(session) - LEASE.c.until).where(LEASE.c.name == "controller", LEASE.c.until > 0.0)
    return max(0.0, float(session.execute(silent).scalar() or 0.0))


def model_sums(session: Session) -> list[ModelSum]:
    """Return the usage of each model, with cached answers counted separately; models with the most calls come first."""
    is_cached = case((MODEL_CALL.c.tries == 0, 1), else_=0)
    tokens = [func.sum(MODEL_CALL.c[name]) for name in ("prompt", "cached", "completion")]
    counted = select(MODEL_CALL.c.model, is_cached.label("hit"), func.count(), *tokens)
    summed = counted.add_columns(cost_sum()).group_by(MODEL_CALL.c.model, "hit")
    result = [
        ModelSum(model, bool(hit), int(calls), int(prompt), int(cached), int(completion), cost)
        for model, hit, calls, prompt, cached, completion, cost in session.execute(summed)
    ]
    return sorted(result, key=lambda one: (-one.calls, one.model, one.cached))


def worker_counts(session: Session, lease_seconds: float) -> list[WorkerCount]:
    """Return the living workers of every queue, and of waiting commands."""
    fresh = is_recent(session, WORKER.c.seen_at, lease_seconds)
    counted = select(WORKER.c.queues, func.count(), func.sum(WORKER.c.slots)).where(fresh).group_by(WORKER.c.queues)
    rows = {queues: (int(workers), int(slots)) for queues, workers, slots in session.execute(counted)}
    commands = [rows[queues] for queues in rows if queues not in QUEUES]
    local = (sum(workers for workers, _ in commands), sum(slots for _, slots in commands))
    return [WorkerCount(queue, *rows.get(queue, (0, 0))) for queue in QUEUES] + [WorkerCount(LOCAL_QUEUE, *local)]


def ended_runs(session: Session) -> list[EndedRun]:
    """Return the finished runs, the newest first."""
    columns = [RUN.c[name] for name in EndedRun._fields]
    ended = select(*columns).where(RUN.c.state.in_(ENDED_RUNS), RUN.c.ended_at.is_not(None))
    return [EndedRun(*row) for row in session.execute(ended.order_by(RUN.c.ended_at.desc(), RUN.c.id))]
