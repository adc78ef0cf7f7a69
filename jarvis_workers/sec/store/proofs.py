"""Proofs: insert the proofs of a job, read those of a run."""

from collections.abc import Collection, Mapping

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy import insert as insert_into

from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.store.tables import PROOF
from jarvis_workers.store.record_columns import record_row
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import chunked

COLUMNS = tuple(column for column in PROOF.c if column.key in Proof._fields)


def insert(session: Session, run_id: str, job_id: int, proofs: Mapping[int, Proof]) -> None:
    """Insert the proofs of a job by the gids of their findings, instead of earlier ones of the same findings."""
    for some in chunked(proofs):
        session.execute(delete(PROOF).where(PROOF.c.run_id == run_id, PROOF.c.gid.in_(some)))
    own = {"run_id": run_id, "job_id": job_id}
    rows = [{**own, "gid": gid, **record_row(COLUMNS, proof)} for gid, proof in proofs.items()]
    if rows:
        session.execute(insert_into(PROOF), rows)


def of_gids(session: Session, run_id: str, gids: Collection[int]) -> dict[int, Proof]:
    """Return the proofs of some findings of a run by gid."""
    found = dict[int, Proof]()
    for some in chunked(gids):
        found |= _read(session, PROOF.c.run_id == run_id, PROOF.c.gid.in_(some))
    return found


def every(session: Session, run_id: str) -> dict[int, Proof]:
    """Return all proofs of a run by gid."""
    return _read(session, PROOF.c.run_id == run_id)


def _read(session: Session, *which: ColumnElement[bool]) -> dict[int, Proof]:
    rows = session.execute(select(PROOF.c.gid, *COLUMNS).where(*which).order_by(PROOF.c.gid)).mappings()
    return {row["gid"]: Proof(**{column.key: row[column] for column in COLUMNS}) for row in rows}


def proved(session: Session, run_id: str) -> list[int]:
    """Return the findings of a run that are proved."""
    query = select(PROOF.c.gid).where(PROOF.c.run_id == run_id, PROOF.c.state == "proved").order_by(PROOF.c.gid)
    return list(session.execute(query).scalars())


def tried(session: Session, run_id: str) -> set[int]:
    """Return the findings of a run that are proved, or that it was tried to prove."""
    return set(session.execute(select(PROOF.c.gid).where(PROOF.c.run_id == run_id)).scalars())
