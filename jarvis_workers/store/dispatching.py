"""Select the jobs for which to notify workers, and claim jobs after a notification.

A window bounds the outstanding jobs of a queue, so that the broker stays small. It is shared fairly: the next job comes
from the run with the fewest outstanding jobs.
"""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, func, or_, select, update

from jarvis_workers.store import workers
from jarvis_workers.store.crash_attribution import room_for_suspects
from jarvis_workers.store.jobs import is_due, take
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import is_recent, now
from jarvis_workers.store.tables import ACTIVE_RUNS, HEAVIEST_FIRST, JOB, RUN, WAITING_JOBS, WORKER
from jarvis_workers.store.values import Claimed

RECENT = 50
REFUSED_SECONDS = 0.25


class Sent(NamedTuple):
    """A job for which to send a notification; `crashes` is its crash count."""

    id: int
    run_id: str
    kind: str
    step: str
    label: str
    sent_at: float
    crashes: int = 0


class Demand(NamedTuple):
    """The demand of a run on a queue: numbers of `waiting` (due) and `outstanding` (sent or running) jobs."""

    run_id: str
    waiting: int
    outstanding: int


def demand(session: Session, executor: str, queue: str, most: int) -> list[Demand]:
    """Return the demand of each active run on a queue; at most `most` waiting jobs per run are counted."""
    due = select(JOB.c.id).where(JOB.c.run_id == RUN.c.id, JOB.c.queue == queue, JOB.c.state == "pending")
    some = due.where(is_due(session)).order_by(*HEAVIEST_FIRST).limit(most).correlate(RUN).subquery()
    waiting = select(func.count()).select_from(some).scalar_subquery()
    on = select(RUN.c.id, waiting).where(RUN.c.executor == executor, RUN.c.state.in_(ACTIVE_RUNS)).order_by(RUN.c.id)
    out = select(JOB.c.run_id, func.count()).where(JOB.c.queue == queue, JOB.c.state.in_(("sent", "running")))
    outstanding = {run: int(many) for run, many in session.execute(out.group_by(JOB.c.run_id))}
    return [Demand(run, int(many), outstanding.get(run, 0)) for run, many in session.execute(on)]


def share(demands: Sequence[Demand], window: int) -> Mapping[str, int]:
    """Divide a window: an even share per run, the rest to runs with the fewest outstanding jobs; a pure function.

    A run gets its even share even if others fill the window, so that a new run need not wait for them.
    """
    even = max(1, window // max(1, sum(1 for one in demands if one.waiting or one.outstanding)))
    shares = {one.run_id: min(one.waiting, even - one.outstanding) for one in demands if one.outstanding < even}
    shares = {run: many for run, many in shares.items() if many}
    room = window - sum(one.outstanding for one in demands) - sum(shares.values())
    granted = [(one, shares.get(one.run_id, 0)) for one in demands]
    unserved = [(one.outstanding + got, one.run_id, one.waiting - got) for one, got in granted if one.waiting > got]
    heapify(unserved)
    while room > 0 and unserved:
        outstanding, run, waiting = unserved[0]
        shares[run] = shares.get(run, 0) + 1
        room -= 1
        if waiting > 1:
            heapreplace(unserved, (outstanding + 1, run, waiting - 1))
        else:
            heappop(unserved)
    return shares


def newcomers(demands: Sequence[Demand]) -> frozenset[str]:
    """Return the runs without outstanding jobs if other runs have some; a pure function."""
    busy = any(one.outstanding for one in demands)
    return frozenset(one.run_id for one in demands if busy and one.waiting and not one.outstanding)


def mark_sent(session: Session, queue: str, shares: Mapping[str, int], *, suspects_last: bool = False) -> list[Sent]:
    """Mark the given number of jobs of each run as sent, and return them interleaved by run.

    Jobs with crashes come first, then the heaviest. With `suspects_last`, which is for processes with many jobs, they
    come last: a suspect for which a process has no room would be sent again and again.
    """
    chunks: list[list[int]] = []
    lost = JOB.c.crashes > 0
    for run_id, many in sorted(shares.items()):
        first, then = (JOB.c.crashes == 0, lost) if suspects_last else (lost, JOB.c.crashes == 0)
        run = JOB.c.run_id == run_id
        ids = _due(session, run, queue, first, many)
        ids += _due(session, run, queue, then, many - len(ids)) if len(ids) < many else []
        chunks.append(ids)
    return _mark_sent(session, [job for turn in _interleave(chunks) for job in turn])


def mark_crashed_sent(session: Session, executor: str, queue: str, most: int) -> list[Sent]:
    """Mark up to `most` due jobs with crashes as sent, of all active runs, and return them.

    They need not wait until the window has room: it was filled with other jobs while they were running.
    """
    active = select(RUN.c.id).where(RUN.c.executor == executor, RUN.c.state.in_(ACTIVE_RUNS))
    return _mark_sent(session, _due(session, JOB.c.run_id.in_(active), queue, JOB.c.crashes > 0, most))


def _mark_sent(session: Session, ids: Sequence[int]) -> list[Sent]:
    if ids:
        mark = update(JOB).where(JOB.c.id.in_(ids), JOB.c.state == "pending")
        session.execute(mark.values(state="sent", sent_at=now(session)))
    return _notifications(session, ids)


def _due(session: Session, runs: ColumnElement[bool], queue: str, which: ColumnElement[bool], many: int) -> list[int]:
    due = (
        select(JOB.c.id)
        .where(runs, JOB.c.queue == queue, which)
        .where(JOB.c.state == "pending", is_due(session))
        .order_by(*HEAVIEST_FIRST)
        .limit(many)
        .with_for_update(skip_locked=True)
    )
    return list(session.execute(due).scalars())


def resend(session: Session, queue: str, older_than_seconds: float, before: float = 0.0) -> list[Sent]:
    """Mark unclaimed jobs that were sent at least that long ago, or before `before`, as sent again, and return them.

    Neither time is known if the clock was set back since: such jobs are sent again, such a `before` is ignored.
    """
    fresh = is_recent(session, JOB.c.sent_at, older_than_seconds)
    forgotten = or_(~fresh, and_(JOB.c.sent_at < before, before <= now(session)))
    stale = select(JOB.c.id).where(JOB.c.queue == queue, JOB.c.state == "sent", forgotten)
    stale = stale.with_for_update(skip_locked=True)
    ids = list(session.execute(stale).scalars())
    if ids:
        session.execute(update(JOB).where(JOB.c.id.in_(ids), JOB.c.state == "sent").values(sent_at=now(session)))
    return _notifications(session, ids)


def claim_sent(
    session: Session, job: int, *, worker_id: str, process: str, lease_seconds: float, worker_lease_seconds: float
) -> Claimed | None:
    """Claim one job as `claim_notified` does; return None if it cannot be claimed."""
    claims = claim_notified(
        session,
        [job],
        worker_id=worker_id,
        process=process,
        lease_seconds=lease_seconds,
        worker_lease_seconds=worker_lease_seconds,
    )
    return claims[0] if claims else None


def claim_notified(
    session: Session,
    ids: Sequence[int],
    *,
    worker_id: str,
    process: str,
    lease_seconds: float,
    worker_lease_seconds: float,
) -> list[Claimed]:
    """Claim the notified jobs that are waiting and belong to an active run.

    A suspect for which the process has no room (`crash_attribution.ROOM`) becomes pending again, and may be claimed
    after a short delay. The same holds for all jobs if the process is an orphan, that is, if its worker is unknown or
    was not seen for `worker_lease_seconds`: the controller would recover its jobs at once.
    """
    alive = workers.is_alive(session, worker_id, worker_lease_seconds)
    going = select(RUN.c.id).where(RUN.c.state.in_(ACTIVE_RUNS))
    due = JOB.c.id.in_(ids) & JOB.c.run_id.in_(going) & is_due(session)
    waiting = select(JOB.c.id, JOB.c.crashes, alive).where(due, JOB.c.state.in_(WAITING_JOBS)).order_by(JOB.c.id)
    rows = session.execute(waiting.with_for_update(of=JOB)).all()
    welcome = room_for_suspects(session, process, [(row.id, row.crashes) for row in rows if row.alive])
    if refused := {row.id for row in rows} - set(welcome):
        back = update(JOB).where(JOB.c.id.in_(refused))
        session.execute(back.values(state="pending", sent_at=None, not_before=now(session) + REFUSED_SECONDS))
    if not welcome:
        return []
    return take(session, JOB.c.id.in_(welcome), worker_id=worker_id, process=process, lease_seconds=lease_seconds)


def queues_due(session: Session, run_id: str) -> list[str]:
    """Return the queues with jobs of an active run that can be claimed now."""
    due = select(JOB.c.queue).join(RUN, RUN.c.id == JOB.c.run_id).where(RUN.c.id == run_id)
    due = due.where(RUN.c.state.in_(ACTIVE_RUNS), JOB.c.state.in_(WAITING_JOBS), is_due(session))
    return list(session.execute(due.distinct().order_by(JOB.c.queue)).scalars())


class NotDue(NamedTuple):
    """The jobs of a run that wait after a failed attempt: their number, the seconds until the first, and its reason."""

    jobs: int
    seconds: float
    reason: str


def not_due(session: Session, run_id: str) -> NotDue | None:
    """Return the jobs of an active run that may not be claimed yet, or None."""
    waits = select(JOB.c.not_before - now(session), JOB.c.reason).join(RUN, RUN.c.id == JOB.c.run_id)
    waits = waits.where(RUN.c.id == run_id, RUN.c.state.in_(ACTIVE_RUNS), JOB.c.state.in_(WAITING_JOBS))
    rows = session.execute(waits.where(~is_due(session)).order_by(JOB.c.not_before, JOB.c.id)).all()
    return NotDue(len(rows), float(rows[0][0]), rows[0][1] or "") if rows else None


def slots(session: Session, queue: str, lease_seconds: float) -> int:
    """Return the total number of slots of the living workers of a queue."""
    fresh = workers.is_fresh(session, lease_seconds)
    rows = session.execute(select(WORKER.c.slots).where(WORKER.c.queues == queue, fresh))
    return sum(rows.scalars())


def mean_seconds(session: Session, queue: str) -> float | None:
    """Return the mean duration in seconds of the last finished jobs of a queue, or None if there are none."""
    recent = select(JOB.c.finished_at - JOB.c.started_at).where(JOB.c.queue == queue, JOB.c.state == "done")
    durations = list(session.execute(recent.order_by(JOB.c.finished_at.desc()).limit(RECENT)).scalars())
    # The clock may have been set back during a job.
    return sum(max(0.0, one) for one in durations) / len(durations) if durations else None


def _notifications(session: Session, ids: Sequence[int]) -> list[Sent]:
    named = select(JOB.c.id, JOB.c.run_id, RUN.c.kind, JOB.c.step, JOB.c.label, JOB.c.sent_at, JOB.c.crashes)
    rows = session.execute(named.join(RUN, RUN.c.id == JOB.c.run_id).where(JOB.c.id.in_(ids)))
    place = {job: n for n, job in enumerate(ids)}
    return sorted((Sent(*row) for row in rows), key=lambda sent: place[sent.id])


def _interleave(groups: Sequence[Sequence[int]]) -> list[list[int]]:
    longest = max(map(len, groups), default=0)
    return [[group[n] for group in groups if n < len(group)] for n in range(longest)]
