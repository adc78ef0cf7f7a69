"""Descriptions of the rules that fired.

The descriptions come from the rule table.  A rule of another version or of the project is described by the texts of its
findings.
"""

from collections.abc import Iterable
from typing import NamedTuple

from jarvis_workers.sec.finding import severity_of
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.rules.rule import title_of


class RuleText(NamedTuple):
    """A rule, with the fields that reports show."""

    pattern: str
    language: str
    category: str
    cwe: int
    confidence: float
    severity: str
    title: str
    description: str
    suggestion: str
    bad: str = ""
    good: str = ""


def rules_of(issues: Iterable[Issue]) -> list[RuleText]:
    """Return the rules of the findings, by name."""
    representatives: dict[str, Issue] = {}
    for issue in issues:
        if issue.pattern not in representatives or _has_texts(issue):
            representatives[issue.pattern] = issue
    return [_rule_text(pattern, issue) for pattern, issue in sorted(representatives.items())]


def _has_texts(issue: Issue) -> bool:
    """Return whether the user configured the rule's severity, which otherwise follows from the confidence."""
    return bool(issue.severity != severity_of(issue.confidence) and not issue.is_rated)


def _rule_text(pattern: str, issue: Issue) -> RuleText:
    rule = RULES_BY_PATTERN.get(pattern)
    if rule is None:
        fields = {name: getattr(issue, name) for name in RuleText._fields if name in Issue._fields}
        return RuleText(title=title_of(issue.description), **fields)
    severity = issue.severity if _has_texts(issue) else severity_of(rule.confidence)
    return RuleText(
        severity=severity, **{name: getattr(rule, name) for name in RuleText._fields if hasattr(rule, name)}
    )
