"""A candidate, a place where a rule fired: light, as there may be a million, and scanning children report them, too."""

import hashlib
import re
from typing import NamedTuple

from jarvis_workers.sec.rules import RULES
from jarvis_workers.sec.rules.families.flow import HARMLESS
from jarvis_workers.sec.severity import CATEGORY_ORDER as CATEGORY_ORDER
from jarvis_workers.sec.severity import SEVERITIES as SEVERITIES
from jarvis_workers.sec.severity import is_at_least as is_at_least
from jarvis_workers.sec.severity import score_of as score_of
from jarvis_workers.sec.severity import severity_of as severity_of

__all__ = [
    "CATEGORY_ORDER",
    "HIT_FIELDS",
    "RULE_FIELDS",
    "SEVERITIES",
    "SUPERSEDES",
    "Candidate",
    "Numbered",
    "fingerprint_of",
    "is_at_least",
    "score_of",
    "severity_of",
]

# The rules that have nothing to add on a line where this one has fired.
SUPERSEDES = {rule.pattern: rule.supersedes for rule in RULES if rule.supersedes} | HARMLESS


class Candidate(NamedTuple):
    """A place where a rule fired, before anyone has looked at it; the table of candidates has a column for each field.

    `file` is the path as it is shown.  `column` is counted in characters from 1; older stores know none.  `suppressed`
    is what a comment in the code says against it, `trail` the steps that lead to it (see trace.py).
    """

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
    def fingerprint(self) -> str:
        """Leaves the line out, so that a finding is known again after an edit above it."""
        return fingerprint_of(self.file, self.pattern, self.evidence)


# By gid.
Numbered = tuple[int, Candidate]
# What a rule says wherever it fires, and what only a hit knows; the file has other names before it is shown.
RULE_FIELDS = ("language", "category", "description", "suggestion", "cwe")
HIT_FIELDS = tuple(name for name in Candidate._fields if name not in (*RULE_FIELDS, "file"))

MARK = "jarvis-ignore"
IGNORE_COMMENT = re.compile(rf"//\s*{MARK}\b.*|/\*\s*{MARK}\b.*?(?:\*/|$)")


def fingerprint_of(file: str, pattern: str, evidence: str) -> str:
    """Identify a finding by file, rule and line of code; a comment that suppresses it changes nothing."""
    if MARK in evidence:
        evidence = IGNORE_COMMENT.sub("", evidence)
    known_by = "\0".join((file, pattern, " ".join(evidence.split())))
    return hashlib.sha256(known_by.encode("utf-8", "backslashreplace")).hexdigest()[:16]
