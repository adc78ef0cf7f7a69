"""The proofs of functions that a model translated, by the jobs of their conversations."""

import sqlalchemy as sa

from jarvis_workers.store.session import Session
from jarvis_workers.store.symbol_tables import TRANSLATION
from jarvis_workers.store.tables import JOB


def add(session: Session, run_id: str, job_id: int, proof: str) -> None:
    """Insert the proof of the body that a conversation ended with, "none" without one."""
    session.execute(sa.insert(TRANSLATION).values(job_id=job_id, run_id=run_id, proof=proof))


def proofs(session: Session, run_id: str) -> dict[str, dict[str, int]]:
    """Return the number of functions by proof, for each stage of a run that translates."""
    counts = sa.select(JOB.c.stage, TRANSLATION.c.proof, sa.func.count()).join(JOB, JOB.c.id == TRANSLATION.c.job_id)
    found: dict[str, dict[str, int]] = {}
    own = counts.where(TRANSLATION.c.run_id == run_id).group_by(JOB.c.stage, TRANSLATION.c.proof)
    for stage, proof, number in session.execute(own.order_by(TRANSLATION.c.proof)):
        found.setdefault(stage, {})[proof] = number
    return found
