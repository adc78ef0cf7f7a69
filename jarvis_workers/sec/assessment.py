"""The verdict on a candidate, as it is judged, stored, reported and shown.

The table of verdicts has a column for each field but `cut_short`, reports have the fields of REPORTED.  The values are
named tuples because a report has up to 25,000 of them.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

VerdictStatus = Literal["confirmed", "dismissed", "review", "undecided", "heuristic"]
# Who can trigger a risk, the worst first, and its severity; both are empty where there is no risk.
Exposure = Literal["remote", "file", "local", "self", "oom", "platform", ""]
RatedSeverity = Literal["high", "medium", "low", ""]


class EvidenceQuote(NamedTuple):
    """Lines of a file that a verdict quotes; `line` is the number of the first."""

    file: str
    line: int
    quote: str


class ReproScript(NamedTuple):
    """A script that an agent ran, for reproduction in a copy of the source."""

    interpreter: str
    script: str


class Verdict(NamedTuple):
    """The verdict on a candidate; `reason` explains why it is neither confirmed nor dismissed.

    `exposure` and `severity` are those of a risk, else empty; `confidence` is the model's own, from 0 to 1. `commands`
    ran for it in the tier `sandbox`. It was `cut_short` if its conversation ended early, and `escalated` if a stronger
    model was asked, too. A candidate is `heuristic` if no model was asked about it.
    """

    gid: int
    status: VerdictStatus
    has_risk: bool | None = None
    preconditions: str = ""
    trigger_path: str = ""
    consequences: str = ""
    suggestions: str = ""
    evidence: tuple[EvidenceQuote, ...] = ()
    reason: str | None = None
    commands: tuple[ReproScript, ...] = ()
    cut_short: bool = False
    escalated: bool = False
    analysis: str = ""
    exposure: Exposure = ""
    severity: RatedSeverity = ""
    confidence: float | None = None
    sandbox: str | None = None

    def for_review(self, reason: str) -> "Verdict":
        """Return the verdict for a person, who is to decide for this reason."""
        return self._replace(status="review", reason=reason)


NO_VERDICT = Verdict(0, "heuristic")
# The texts that explain a risk.
TEXTS = ("preconditions", "trigger_path", "consequences", "suggestions")
# The names that fields have in reports, in their order there.
REPORTED: Mapping[str, str] = {
    "has_risk": "has_risk",
    "analysis": "analysis",
    "exposure": "exposure",
    "verdict_severity": "severity",
    "verdict_confidence": "confidence",
    **{name: name for name in TEXTS},
    "quotes": "evidence",
    "reason": "reason",
    "commands": "commands",
}
