"""Verdicts: insert what a job found out, read those of a run in the order of their gids."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import insert as insert_into
from sqlalchemy import select
from sqlmodel import Session

from jarvis_workers.store.sql import storable
from jarvis_workers.store.tables import VERDICT
from jarvis_workers.store.values import NewVerdict

READ_ROWS = 500


def insert(session: Session, run_id: str, job_id: int, verdicts: Sequence[NewVerdict]) -> None:
    """Insert what a job found out."""
    rows = [{"run_id": run_id, "job_id": job_id, **_told(verdict)} for verdict in verdicts]
    if rows:
        session.execute(insert_into(VERDICT), rows)


def read(session: Session, run_id: str) -> Iterator[NewVerdict]:
    """Yield the verdicts of a run as of now."""
    chosen = select(*[VERDICT.c[name] for name in NewVerdict._fields]).where(VERDICT.c.run_id == run_id)
    rows = session.execute(chosen.order_by(VERDICT.c.gid).execution_options(yield_per=READ_ROWS))
    return (NewVerdict(*row) for row in rows)


def _told(verdict: NewVerdict) -> dict[str, Any]:
    return {name: storable(said) if isinstance(said, str) else said for name, said in verdict._asdict().items()}
