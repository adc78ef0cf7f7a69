"""People's triage verdicts on findings, which are identified by fingerprint."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from jarvis_workers.sec.triage import NOTHING_JUDGED as NOTHING_JUDGED
from jarvis_workers.sec.triage import PRIOR_WEIGHT as PRIOR_WEIGHT
from jarvis_workers.sec.triage import TriageState as TriageState
from jarvis_workers.sec.triage import TriageVerdict as TriageVerdict
from jarvis_workers.sec.triage import learned_confidence as learned_confidence
from jarvis_workers.sec.triage import moved_by as moved_by
from jarvis_workers.sec.triage import unadjusted_minimum as unadjusted_minimum

__all__ = [
    "NOTHING_JUDGED",
    "PRIOR_WEIGHT",
    "Judgement",
    "TriageState",
    "TriageVerdict",
    "learned_confidence",
    "moved_by",
    "unadjusted_minimum",
]


class Judgement(BaseModel):
    """A person's decision on a finding; `file` is its former location, for display only.

    `at` is in seconds since 1970, None before the store has set it.
    """

    model_config = ConfigDict(frozen=True)

    fingerprint: str
    rule: str
    verdict: Annotated[TriageState, BeforeValidator(TriageState.read)]
    reason: str = ""
    by: str = ""
    file: str = ""
    at: float | None = None
