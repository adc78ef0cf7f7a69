"""What is found of a candidate, a place where a rule fired: light, as children that scan build reports of it, too."""

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from jarvis_workers.sec.rules import RULES
from jarvis_workers.sec.rules.families.flow import HARMLESS
from jarvis_workers.sec.severity import CATEGORY_ORDER as CATEGORY_ORDER
from jarvis_workers.sec.severity import SEVERITIES as SEVERITIES
from jarvis_workers.sec.severity import is_at_least as is_at_least
from jarvis_workers.sec.severity import score_of as score_of
from jarvis_workers.sec.severity import severity_of as severity_of

if TYPE_CHECKING:
    from jarvis_workers.sec.candidate import Candidate

__all__ = [
    "CATEGORY_ORDER",
    "SEVERITIES",
    "SUPERSEDES",
    "CandidateRecord",
    "Described",
    "Numbered",
    "fingerprint_of",
    "is_at_least",
    "score_of",
    "severity_of",
]

# The rules that have nothing to add on a line where this one has fired.
SUPERSEDES = {rule.pattern: rule.supersedes for rule in RULES if rule.supersedes} | HARMLESS


class CandidateRecord(NamedTuple):
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
    column: int | None = None
    suppressed: str | None = None
    trail: str | None = None


Described: TypeAlias = "Candidate | CandidateRecord"
# By gid.
Numbered = tuple[int, Described]


MARK = "jarvis-ignore"
IGNORE_COMMENT = re.compile(rf"//\s*{MARK}\b.*|/\*\s*{MARK}\b.*?(?:\*/|$)")


def fingerprint_of(file: str, pattern: str, evidence: str) -> str:
    """Identify a finding by file, rule and line of code; a comment that suppresses it changes nothing."""
    if MARK in evidence:
        evidence = IGNORE_COMMENT.sub("", evidence)
    known_by = "\0".join((file, pattern, " ".join(evidence.split())))
    return hashlib.sha256(known_by.encode("utf-8", "backslashreplace")).hexdigest()[:16]
