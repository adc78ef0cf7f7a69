"""A candidate: a place where a rule fired, with all that a report says of it."""

from pydantic import BaseModel, ConfigDict

from jarvis_workers.sec.finding import fingerprint_of
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import Hit
from jarvis_workers.sec.severity import score_of, severity_of

__all__ = ["Candidate", "candidate"]


class Candidate(BaseModel):
    """A place where a rule fired, before anyone has looked at it; `file` is the path as it is shown.

    `column` is counted in characters from 1; older stores know none.  `suppressed` is what a comment in the code says
    against it, `trail` the steps that lead to it (see trace.py).
    """

    model_config = ConfigDict(frozen=True)

    language: str
    category: str
    pattern: str
    file: str
    line: int
    evidence: str
    description: str
    suggestion: str
    confidence: float
    cwe: int
    column: int | None = None
    suppressed: str | None = None
    trail: str | None = None

    @property
    def severity(self) -> str:
        return severity_of(self.confidence)

    @property
    def score(self) -> float:
        return score_of(self.confidence)

    @property
    def fingerprint(self) -> str:
        """Leaves the line out, so that a finding is known again after an edit above it."""
        return fingerprint_of(self.file, self.pattern, self.evidence)


def candidate(hit: Hit, file: str) -> Candidate:
    """Fill in what the rule says."""
    rule = RULES_BY_PATTERN[hit.pattern]
    return Candidate(
        language=rule.language,
        category=rule.category,
        pattern=rule.pattern,
        file=file,
        line=hit.line,
        evidence=hit.evidence,
        description=rule.description,
        suggestion=rule.suggestion,
        confidence=hit.confidence,
        cwe=rule.cwe,
        column=hit.column,
        suppressed=hit.suppressed,
    )
