"""Baselines: the number of earlier findings per fingerprint."""

from collections.abc import Iterator, Mapping
from itertools import islice

from sqlalchemy import insert, select

from jarvis_workers.sec.store.tables import BASELINE
from jarvis_workers.store.session import Session

INSERT_ROWS = 5_000


def add(session: Session, run_id: str, counts: Mapping[str, int]) -> None:
    """Save the baseline of a run."""
    rows = ({"run_id": run_id, "fingerprint": print_, "findings": number} for print_, number in counts.items())
    for chunk in _chunks(rows):
        session.execute(insert(BASELINE), chunk)


def read(session: Session, run_id: str) -> dict[str, int]:
    """Return the baseline of a run: number of findings by fingerprint."""
    query = select(BASELINE.c.fingerprint, BASELINE.c.findings).where(BASELINE.c.run_id == run_id)
    return {fingerprint: number for fingerprint, number in session.execute(query)}


def _chunks(rows: Iterator[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    while chunk := list(islice(rows, INSERT_ROWS)):
        yield chunk
