"""Leases for exclusive roles, such as the controller."""

from sqlalchemy import ColumnElement, or_, select, update

from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import changed, insert_missing, is_void, now
from jarvis_workers.store.tables import LEASE


def is_free(session: Session, name: str, holder: str) -> bool:
    """Return whether a lease has expired or belongs to `holder`; this only reads, so that polling is cheap."""
    other = select(LEASE.c.name).where(LEASE.c.name == name, LEASE.c.holder != holder, ~_has_ended(session))
    return session.execute(other).first() is None


def overdue(session: Session, name: str) -> float:
    """Return the number of seconds since a lease expired; 0 if it is held or was released."""
    silent = now(session) - LEASE.c.until
    ran_out = select(silent.label("silent")).where(LEASE.c.name == name, LEASE.c.until > 0.0, silent > 0.0)
    row = session.execute(ran_out).first()
    return float(row.silent) if row else 0.0


def take(session: Session, name: str, holder: str, seconds: float) -> bool:
    """Take or extend a lease by compare-and-set; return False if another holder has it."""
    insert_missing(session, LEASE, [{"name": name, "holder": holder, "until": 0.0}])
    free = or_(LEASE.c.holder == holder, _has_ended(session))
    taken = {"holder": holder, "until": now(session) + seconds, "seconds": seconds}
    return changed(session, update(LEASE).where(LEASE.c.name == name, free).values(taken)) == 1


def release(session: Session, name: str, holder: str) -> None:
    """Release a lease, so that the next holder need not wait."""
    session.execute(update(LEASE).where(LEASE.c.name == name, LEASE.c.holder == holder).values(until=0.0))


def _has_ended(session: Session) -> ColumnElement[bool]:
    return or_(LEASE.c.until <= now(session), is_void(session, LEASE.c.until, LEASE.c.seconds))
