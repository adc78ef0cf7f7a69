"""Workers and their heartbeats."""

from dataclasses import asdict

from sqlalchemy import ColumnElement, Label, case, delete, exists, insert, select, update

from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import changed, is_recent, now
from jarvis_workers.store.tables import WORKER
from jarvis_workers.store.values import WorkerFacts


def touch(session: Session, worker: WorkerFacts) -> None:
    """Insert a worker, or record its heartbeat."""
    if not touch_existing(session, worker.id):
        session.execute(insert(WORKER).values(**asdict(worker), seen_at=now(session)))


def touch_existing(session: Session, worker_id: str) -> bool:
    """Record a heartbeat of a worker; return False if it is not registered."""
    seen = update(WORKER).where(WORKER.c.id == worker_id)
    return changed(session, seen.values(seen_at=now(session))) == 1


def excuse_all(session: Session, slept: float) -> None:
    """Move the last heartbeats of all workers forward by `slept` seconds, at most to now."""
    later = WORKER.c.seen_at + slept
    session.execute(update(WORKER).values(seen_at=case((later < now(session), later), else_=now(session))))


def leave(session: Session, worker_id: str) -> None:
    """Remove a worker."""
    session.execute(delete(WORKER).where(WORKER.c.id == worker_id))


def find(session: Session, worker_id: str, lease_seconds: float) -> tuple[WorkerFacts, bool] | None:
    """Return a worker and whether its heartbeat is within a lease, or None."""
    fresh = is_fresh(session, lease_seconds).label("fresh")
    row = session.execute(select(WORKER, fresh).where(WORKER.c.id == worker_id)).mappings().first()
    if row is None:
        return None
    return WorkerFacts(**{name: row[name] for name in WorkerFacts.__dataclass_fields__}), bool(row["fresh"])


def living(session: Session, lease_seconds: float) -> list[WorkerFacts]:
    """Return the workers with a heartbeat within a lease."""
    rows = session.execute(select(WORKER).where(is_fresh(session, lease_seconds)).order_by(WORKER.c.id))
    return [WorkerFacts(**{name: row[name] for name in WorkerFacts.__dataclass_fields__}) for row in rows.mappings()]


def is_fresh(session: Session, lease_seconds: float) -> ColumnElement[bool]:
    """Return whether the heartbeat of a worker is within a lease."""
    return is_recent(session, WORKER.c.seen_at, lease_seconds)


def is_alive(session: Session, worker_id: str, lease_seconds: float) -> Label[bool]:
    """Return a column `alive` that is true if the worker exists and no lease has passed since its heartbeat.

    A worker may claim before its first heartbeat after the clock was set back.
    """
    since = now(session) - lease_seconds
    return exists().where(WORKER.c.id == worker_id, WORKER.c.seen_at > since).label("alive")


def drop_dead(session: Session, older_than_seconds: float) -> None:
    """Delete workers without a recent heartbeat."""
    session.execute(delete(WORKER).where(WORKER.c.seen_at < now(session) - older_than_seconds))
