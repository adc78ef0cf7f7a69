"""Pause a run in which too many functions step down, because no answer of the model was accepted."""

import sqlalchemy as sa

from jarvis_workers.store import runs, stages
from jarvis_workers.store.budgets import BEGINNINGS
from jarvis_workers.store.runs import STEPPED
from jarvis_workers.store.session import Session
from jarvis_workers.store.symbol_tables import TRANSLATION
from jarvis_workers.store.tables import EVENT, JOB
from jarvis_workers.store.values import NO_PROOF

WINDOW = 50
REASON = "c2rust.pause_share"


def pause_by_share(session: Session, run_id: str, job_id: int, share: float) -> None:
    """Pause a run if more than this share of its last WINDOW functions stepped down, and the job's stage goes on.

    Only functions since the run was last started, resumed or retried count, or since the clock was set.
    """
    began = sa.select(EVENT.c.at).where(EVENT.c.run_id == run_id, EVENT.c.name.in_((*BEGINNINGS, STEPPED)))
    began = began.order_by(EVENT.c.id.desc()).limit(1)
    recent = sa.select(TRANSLATION.c.proof).join(JOB, JOB.c.id == TRANSLATION.c.job_id)
    recent = recent.where(TRANSLATION.c.run_id == run_id, JOB.c.finished_at > began.scalar_subquery())
    last = list(session.execute(recent.order_by(JOB.c.finished_at.desc(), JOB.c.id.desc()).limit(WINDOW)).scalars())
    down = last.count(NO_PROOF)
    if len(last) < WINDOW or down <= share * WINDOW:
        return
    stage = session.execute(sa.select(JOB.c.stage).where(JOB.c.id == job_id)).scalar_one()
    if stages.has_open_jobs(session, run_id, stage):
        runs.pause(session, run_id, f"{REASON}: {down} of the last {WINDOW} functions have no accepted body")
