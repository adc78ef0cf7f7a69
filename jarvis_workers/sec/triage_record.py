"""People's triage verdicts on findings, which are identified by fingerprint."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from jarvis_workers.sec.triage_states import TriageState


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
