"""A candidate: a place where a rule fired, with all that a report says of it."""

import hashlib
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from jarvis_workers.sec.rules import RULES, RULES_BY_PATTERN
from jarvis_workers.sec.rules.flow import HARMLESS
from jarvis_workers.sec.scanner import Hit

__all__ = [
    "CATEGORY_ORDER",
    "SEVERITIES",
    "SUPERSEDES",
    "Candidate",
    "Described",
    "Found",
    "Numbered",
    "candidate",
    "fingerprint_of",
    "is_at_least",
    "score_of",
    "severity_of",
]

# In the order of reports; others come after.
CATEGORY_ORDER = (
    "unsafe_api",
    "buffer_overflow",
    "memory_mgmt",
    "error_handling",
    "unsafe_usage",
    "concurrency",
    "thread_safety",
    "input_validation",
    "crypto",
    "resource_leak",
    "network_api",
    "insecure_permissions",
)
# From the least to the worst, with the weight of each in a score.
WEIGHTS = {"low": 1, "medium": 2, "high": 3}
SEVERITIES = tuple(WEIGHTS)
# The rules that have nothing to add on a line where this one has fired.
SUPERSEDES = {rule.pattern: rule.supersedes for rule in RULES if rule.supersedes} | HARMLESS


class Candidate(BaseModel):
    """A place where a rule fired, before anyone has looked at it; `file` is the path as it is shown.

    `suppressed` is what a comment in the code says against it, `trail` the steps that lead to it (see trail.py).
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


class Found(NamedTuple):
    """What a candidate says, as light as a row of the store: there may be a million of them."""

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
    suppressed: str | None = None
    trail: str | None = None


Described = Candidate | Found
# By gid.
Numbered = tuple[int, Described]


def severity_of(confidence: float) -> str:
    if confidence >= 0.8:
        return "high"
    return "medium" if confidence >= 0.6 else "low"


def score_of(confidence: float, severity: str | None = None) -> float:
    """Weigh the confidence by the severity: that which follows from it, unless another is given."""
    return round(confidence * WEIGHTS[severity or severity_of(confidence)], 2)


def fingerprint_of(file: str, pattern: str, evidence: str) -> str:
    known_by = "\0".join((file, pattern, " ".join(evidence.split())))
    return hashlib.sha256(known_by.encode("utf-8", "backslashreplace")).hexdigest()[:16]


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
        suppressed=hit.suppressed,
    )


def is_at_least(severity: str, level: str) -> bool:
    """Tell whether a severity reaches the level of `--fail-on`."""
    return SEVERITIES.index(severity) >= SEVERITIES.index(level)
