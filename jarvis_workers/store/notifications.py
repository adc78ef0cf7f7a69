"""Runs that have ended without a notification so far; an event records each notification."""

from sqlalchemy import select
from sqlmodel import Session

from jarvis_workers.store import events
from jarvis_workers.store.sql import now
from jarvis_workers.store.tables import ENDED_RUNS, EVENT, RUN

NOTIFIED = "notified"


def pending(session: Session, within_seconds: float) -> str | None:
    """Return the first run that ended at most `within_seconds` ago and awaits a notification, or None."""
    notified = select(EVENT.c.id).where(
        EVENT.c.run_id == RUN.c.id, EVENT.c.name == NOTIFIED, EVENT.c.at >= RUN.c.ended_at
    )
    recent = RUN.c.state.in_(ENDED_RUNS), RUN.c.ended_at > now(session) - within_seconds
    query = select(RUN.c.id).where(*recent, ~notified.exists()).order_by(RUN.c.ended_at, RUN.c.id).limit(1)
    return session.execute(query).scalar_one_or_none()


def record(session: Session, run_id: str, outcome: str) -> None:
    """Record that the notification of a run's end was sent or abandoned."""
    events.record(session, run_id, NOTIFIED, outcome=outcome)
