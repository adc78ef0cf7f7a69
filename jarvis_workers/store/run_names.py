"""Names of runs. The primary key makes them unique, even if several processes submit at once."""

from typing import NamedTuple

from sqlalchemy import select

from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import insert_missing
from jarvis_workers.store.tables import RUN_NAME


class NamedRun(NamedTuple):
    """The run with a given name, and the hash of its request."""

    run_id: str
    request_hash: str


def add(session: Session, name: str, named: NamedRun) -> bool:
    """Give a new run its name; return False if another run has it."""
    insert_missing(session, RUN_NAME, [{"name": name, **named._asdict()}])
    return find(session, name) == named


def find(session: Session, name: str) -> NamedRun | None:
    """Return the run with this name, or None."""
    row = session.execute(select(RUN_NAME.c.run_id, RUN_NAME.c.request_hash).where(RUN_NAME.c.name == name)).first()
    return NamedRun(row.run_id, row.request_hash) if row else None
