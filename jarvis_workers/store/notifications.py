"""Runs that have ended without a notification so far; an event records each notification."""

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import aliased

from jarvis_workers.store import events, runs
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import now
from jarvis_workers.store.tables import EVENT, RUN
from jarvis_workers.store.values import ENDED_RUNS, PARTIAL_KINDS, Run

NOTIFIED = "notified"


def pending(session: Session, within_seconds: float, only: Collection[str] | None = None) -> Run | None:
    """Return the first run that ended at most `within_seconds` ago and awaits a notification, or None.

    With `only`, other runs are left out. Runs that make the crate of a paused run are a part of that run.
    """
    # By their order: the clock may have been set back between the two.
    later = aliased(EVENT)
    ended_since = select(later.c.id).where(
        later.c.run_id == RUN.c.id, later.c.name.in_(ENDED_RUNS), later.c.id > EVENT.c.id
    )
    notified = select(EVENT.c.id).where(
        EVENT.c.run_id == RUN.c.id, EVENT.c.name == NOTIFIED, ~ended_since.correlate(RUN, EVENT).exists()
    )
    recent = RUN.c.state.in_(ENDED_RUNS), RUN.c.ended_at > now(session) - within_seconds
    own = RUN.c.kind.not_in(PARTIAL_KINDS)
    query = select(RUN).where(*recent, own, ~notified.exists()).order_by(RUN.c.ended_at, RUN.c.id).limit(1)
    if only is not None:
        query = query.where(RUN.c.id.in_(only))
    row = session.execute(query).first()
    return runs.from_row(row) if row else None


def record(session: Session, run_id: str, outcome: str) -> None:
    """Record that the notification of a run's end was sent or abandoned."""
    events.record(session, run_id, NOTIFIED, outcome=outcome)
