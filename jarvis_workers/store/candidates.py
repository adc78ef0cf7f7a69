"""Candidates: insert what a scan found, number it when the stage closes, read it in order."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlmodel import Session

from jarvis_workers.paths import shown
from jarvis_workers.sec.finding import Candidate, candidate
from jarvis_workers.sec.scanner import Hit
from jarvis_workers.store.tables import CANDIDATE
from jarvis_workers.store.values import Spot

FIELDS = tuple(Candidate.model_fields)


def insert(session: Session, run_id: str, job_id: int, spots: Sequence[Spot]) -> None:
    """Insert what a job found."""
    rows = [
        {"run_id": run_id, "job_id": job_id, "file_raw": spot.path, **_described(spot).model_dump()} for spot in spots
    ]
    if rows:
        session.execute(sa.insert(CANDIDATE), rows)


def number(session: Session, run_id: str) -> None:
    """Give gids 1..N in file, line, rule order, whatever order the jobs came in."""
    order = (CANDIDATE.c.file_raw, CANDIDATE.c.line, CANDIDATE.c.pattern)
    place = sa.func.row_number().over(order_by=order).label("place")
    placed = sa.select(CANDIDATE.c.id, place).where(CANDIDATE.c.run_id == run_id).subquery()
    session.execute(sa.update(CANDIDATE).where(CANDIDATE.c.id == placed.c.id).values(gid=placed.c.place))


def read(session: Session, run_id: str) -> list[tuple[int, Candidate]]:
    """Return the numbered candidates of a run, in order; before its scan has closed, numbered as of now."""
    chosen = sa.select(*[CANDIDATE.c[name] for name in FIELDS]).where(CANDIDATE.c.run_id == run_id)
    rows = session.execute(chosen.order_by(CANDIDATE.c.file_raw, CANDIDATE.c.line, CANDIDATE.c.pattern))
    return [(gid, Candidate(**row)) for gid, row in enumerate(rows.mappings(), 1)]


def _described(spot: Spot) -> Candidate:
    hit = Hit(pattern=spot.pattern, line=spot.line, confidence=spot.confidence, evidence=spot.evidence)
    return candidate(hit, shown(spot.path))
