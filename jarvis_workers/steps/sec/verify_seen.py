"""Verify what models have seen beside the candidates that they were asked about: the step of stage `verify_seen`.

Each is a candidate of its own, verified once; what is seen on this occasion is not followed up.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.sec.finding import SEEN_BY_MODEL
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.steps.sec.candidates import all_of, number_candidates
from jarvis_workers.steps.sec.payloads import VerifyPayload
from jarvis_workers.steps.sec.verify_cluster import converse as converse
from jarvis_workers.steps.sec.verify_cluster import load as load
from jarvis_workers.store import candidates
from jarvis_workers.store.runs import Run
from jarvis_workers.store.values import AGENT_QUEUE, NewJob

if TYPE_CHECKING:
    from sqlmodel import Session

STEP = "verify_seen"
# Of one run: enough for what is seen by chance, and no second scan by models.
MOST = 20
LABEL_LENGTH = 160
CONDITION = "The code at this line has the defect that the description claims, and it can be triggered."


def number_seen(session: "Session", run: Run) -> None:
    """Select the candidates to verify, and number them after all others."""
    candidates.keep_seen(session, run.id, MOST)
    number_candidates(session, run)


def plan_on(run: Run, _: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job for each candidate."""
    with earlier.read() as session:
        seen = [(gid, one) for gid, one in all_of(session, run) if one.pattern == SEEN_BY_MODEL]
    for gid, candidate in seen:
        payload = VerifyPayload((gid,), CONDITION).to_json()
        label = f"{candidate.file[-LABEL_LENGTH:]}:{candidate.line}"
        yield NewJob(STEP, AGENT_QUEUE, label, sha256(payload.encode()).hexdigest(), payload=payload)
