"""The history of a finding's triage, and the conversation that led to its verdict."""

from typing import NamedTuple

from jarvis_workers.sec.store import judgements, triage_operations, verdicts
from jarvis_workers.sec.store.triage_operations import PastOperation
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


class TriageRecord(NamedTuple):
    """The current verdict on a fingerprint, and the operations that changed it, newest first."""

    current: Judgement | None
    past: list[PastOperation]


def record_of(store: Store, fingerprint: str) -> TriageRecord:
    """Return the triage record of a fingerprint; operations that were undone are not included."""
    with store.read() as session:
        current = judgements.find(session, [fingerprint]).get(fingerprint)
        return TriageRecord(current, triage_operations.of_fingerprint(session, fingerprint))


def conversation_of(store: Store, run: Run, gid: int) -> int | None:
    """Return the id of the conversation that gave the verdict on a candidate, or None."""
    with store.read() as session:
        return verdicts.job_of(session, run.id, gid)
