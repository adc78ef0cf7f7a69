"""Candidates: places where a rule fired, and their fingerprints."""

import hashlib
import re
from typing import NamedTuple

from jarvis_workers.sec.rules import RULES
from jarvis_workers.sec.rules.families.flow import HARMLESS

# The rules whose findings are redundant on a line where this rule has fired.
SUPERSEDES = {rule.pattern: rule.supersedes for rule in RULES if rule.supersedes} | HARMLESS


class Candidate(NamedTuple):
    """A place where a rule fired, not yet verified; the candidate table has a column for each field.

    `file` is the displayed path.  `column` is counted in characters from 1; older stores have none.  `suppressed`
    is the reason of a suppression comment in the code, `trail` the trace that leads to the candidate (see trace.py).
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
        """Stable identity of the finding; excludes the line number, so that edits above it do not change it."""
        return fingerprint_of(self.file, self.pattern, self.evidence)

    def is_weaker(self, least: float) -> bool:
        """Return whether the confidence is too low; that of rules alone: what others report always counts."""
        return self.confidence < least and self.pattern not in WITHOUT_RULE


# The pattern of candidates that a model has found in a function, without a rule.
DISCOVERED = "discovered"
# The pattern of candidates that a model has seen beside others, which are numbered after all others.
SEEN_BY_MODEL = "seen_by_model"
# The pattern of candidates at which an input of fuzzing has stopped the program, which are numbered after these.
FUZZ_CRASH = "fuzz_crash"
FOUND_BY_MODEL = frozenset({DISCOVERED, SEEN_BY_MODEL})
# Findings of these patterns each have a title, a description and a weakness of their own, not those of a rule.
WITHOUT_RULE = FOUND_BY_MODEL | {FUZZ_CRASH}

# By gid.
Numbered = tuple[int, Candidate]
# Fields from the rule, the same wherever it fires, and fields from the hit; the path is set when it is displayed.
RULE_FIELDS = ("language", "category", "description", "suggestion", "cwe")
HIT_FIELDS = tuple(name for name in Candidate._fields if name not in (*RULE_FIELDS, "file"))

MARK = "jarvis-ignore"
IGNORE_COMMENT = re.compile(rf"//\s*{MARK}\b.*|/\*\s*{MARK}\b.*?(?:\*/|$)")


def rule_id(pattern: str, cwe: int) -> str:
    """Return the id of the rule in reports: of what no rule has found, one for each weakness (discovered/cwe-787)."""
    return f"{pattern}/cwe-{cwe}" if cwe and pattern in WITHOUT_RULE else pattern


def pattern_of(rule: str) -> str:
    """Return the pattern for an id of `rule_id`."""
    pattern = rule.partition("/")[0]
    return pattern if pattern in WITHOUT_RULE else rule


def fingerprint_of(file: str, pattern: str, evidence: str) -> str:
    """Identify a finding by file, rule and line of code; a suppression comment does not change its identity."""
    if MARK in evidence:
        evidence = IGNORE_COMMENT.sub("", evidence)
    known_by = "\0".join((file, pattern, " ".join(evidence.split())))
    return hashlib.sha256(known_by.encode("utf-8", "backslashreplace")).hexdigest()[:16]
