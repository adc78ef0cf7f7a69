"""Make candidates: what a hit found, and what its rule says."""

from jarvis_workers.sec.finding import RULE_FIELDS, Candidate
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import Hit

__all__ = ["candidate"]


def candidate(hit: Hit, file: str) -> Candidate:
    """Fill in what the rule says."""
    rule = RULES_BY_PATTERN[hit.pattern]
    return Candidate(file=file, **{name: getattr(rule, name) for name in RULE_FIELDS}, **hit._asdict())
