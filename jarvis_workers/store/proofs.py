"""Proofs: insert the proofs of a job, read those of a run."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy import insert as insert_into

from jarvis_workers.store.proof_tables import PROOF
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import chunked, storable
from jarvis_workers.store.values import NewProof

COLUMNS = tuple(PROOF.c[name] for name in NewProof._fields)


def insert(session: Session, run_id: str, job_id: int, proofs: Sequence[NewProof]) -> None:
    """Insert the proofs of a job, instead of earlier ones of the same findings."""
    gids = [proof.gid for proof in proofs]
    for some in chunked(gids):
        session.execute(delete(PROOF).where(PROOF.c.run_id == run_id, PROOF.c.gid.in_(some)))
    rows = [{"run_id": run_id, "job_id": job_id, **_row(proof)} for proof in proofs]
    if rows:
        session.execute(insert_into(PROOF), rows)


def of_gids(session: Session, run_id: str, gids: Collection[int]) -> list[NewProof]:
    """Return the proofs of some findings of a run."""
    ours, result = select(*COLUMNS).where(PROOF.c.run_id == run_id).order_by(PROOF.c.gid), list[NewProof]()
    for some in chunked(gids):
        result += [NewProof(*row) for row in session.execute(ours.where(PROOF.c.gid.in_(some)))]
    return result


def every(session: Session, run_id: str) -> list[NewProof]:
    """Return all proofs of a run, by the findings."""
    query = select(*COLUMNS).where(PROOF.c.run_id == run_id).order_by(PROOF.c.gid)
    return [NewProof(*row) for row in session.execute(query)]


def proved(session: Session, run_id: str) -> list[int]:
    """Return the findings of a run that are proved."""
    query = select(PROOF.c.gid).where(PROOF.c.run_id == run_id, PROOF.c.state == "proved").order_by(PROOF.c.gid)
    return list(session.execute(query).scalars())


def tried(session: Session, run_id: str) -> set[int]:
    """Return the findings of a run that are proved, or that it was tried to prove."""
    return set(session.execute(select(PROOF.c.gid).where(PROOF.c.run_id == run_id)).scalars())


def _row(proof: NewProof) -> dict[str, Any]:
    return {name: storable(value) if isinstance(value, str) else value for name, value in proof._asdict().items()}
