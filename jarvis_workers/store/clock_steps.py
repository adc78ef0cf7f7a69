"""Steps of the database's clock: set by a person, by NTP, by a standby that takes over, by a restored virtual machine.

After a step back, stored times lie in the future. The elected controller clamps leases to their length from now, and
heartbeats to now: live holders have one lease to renew, and jobs of dead holders are recovered after it. A step forward
cannot be told from a suspension, by which the controller extends all leases.
"""

from sqlalchemy import ColumnElement, func, select, update

from jarvis_workers.store import events
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import changed, is_future, is_void, now
from jarvis_workers.store.tables import ACTIVE_RUNS, JOB, LEASE, RUN, WORKER

STEPPED = "clock"


def bound(session: Session) -> int:
    """Move heartbeats and starts in the future to now, and shorten leases to their length; return the number of jobs.

    It belongs before the recovery of expired leases, in the same transaction.
    """
    ahead = update(WORKER).where(is_future(session, WORKER.c.seen_at))
    session.execute(ahead.values(seen_at=now(session)))
    running = update(JOB).where(JOB.c.state == "running")
    session.execute(running.where(is_future(session, JOB.c.started_at)).values(started_at=now(session)))
    void = running.where(is_void(session, JOB.c.lease_until, JOB.c.lease_seconds))
    return changed(session, void.values(lease_until=now(session) + JOB.c.lease_seconds))


def record(session: Session, seconds: float) -> None:
    """Record a step in all active runs, since their elapsed times include it."""
    for run_id in session.execute(select(RUN.c.id).where(RUN.c.state.in_(ACTIVE_RUNS))).scalars().all():
        bound_ends(session, run_id)
        events.record(session, run_id, STEPPED, seconds=round(seconds, 3))


def bound_ends(session: Session, run_id: str) -> None:
    """Move ends of jobs in the future to now, so that they remain earlier than what follows."""
    ended = update(JOB).where(JOB.c.run_id == run_id, is_future(session, JOB.c.finished_at))
    session.execute(ended.values(finished_at=now(session)))


def seconds_ahead(session: Session) -> float:
    """Return how far the times of leases and heartbeats lie in the future, at most; 0 if none does."""

    def furthest(time: ColumnElement[float], *where: ColumnElement[bool]) -> float:
        return float(session.execute(select(func.max(time - now(session))).where(*where)).scalar() or 0.0)

    return max(
        0.0,
        furthest(WORKER.c.seen_at),
        furthest(JOB.c.lease_until - JOB.c.lease_seconds, JOB.c.state == "running"),
        furthest(LEASE.c.until - LEASE.c.seconds),
    )
