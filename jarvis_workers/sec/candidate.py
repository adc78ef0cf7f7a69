"""Build candidates from hits and their rules."""

from jarvis_workers.sec.finding import RULE_FIELDS, Candidate
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import Hit


def candidate(hit: Hit, file: str) -> Candidate:
    """Return a candidate with the fields of the hit and the texts of its rule."""
    rule = RULES_BY_PATTERN[hit.pattern]
    return Candidate(file=file, **{name: getattr(rule, name) for name in RULE_FIELDS}, **hit._asdict())
