"""Titles of findings, and descriptions of the rules that fired.

The texts of a rule come from the rule table.  A rule of another version or of the project is described by the texts of
its findings.  What a model or fuzzing has found is titled by its own description; its rules are weaknesses, one for
each CWE.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from jarvis_workers.sec.cwe import weakness_name
from jarvis_workers.sec.finding import FUZZ_CRASH, WITHOUT_RULE, rule_id
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.rules.rule import title_of
from jarvis_workers.sec.severity import severity_of
from jarvis_workers.words import ENGLISH, Words

# A sentence of a model is cut here.
TITLE_MAX = 120
DESCRIPTION = "{name}, found by a model where no rule has fired. Each finding has a title and a description of its own."
FUZZED = "{name}, at which a run of fuzzing or an attempt stops. Each finding has a title and description of its own."
SUGGESTION = "See the finding."
NO_TITLES: Mapping[str, str] = {}


class RuleText(NamedTuple):
    """A rule, with the fields that reports show; `severity` is None if its findings differ in it."""

    id: str
    language: str
    category: str
    cwe: int
    confidence: float
    severity: str | None
    title: str
    description: str
    suggestion: str
    bad: str = ""
    good: str = ""


def finding_title(issue: Issue, titles: Mapping[str, str] = NO_TITLES) -> str:
    """Return the title of a finding: what a model says of it, if one does, else that of its rule.

    `titles` are those of rules by name, translated or of a project's own rules.
    """
    own = [issue.candidate.description] if issue.candidate.pattern in WITHOUT_RULE else issue.also_reported
    if text := " ".join("".join(own[:1]).split()):
        return title_of(text, TITLE_MAX)
    rule = RULES_BY_PATTERN.get(issue.candidate.pattern)
    return titles.get(issue.candidate.pattern) or (rule.title if rule else title_of(issue.candidate.description))


def finding_name(issue: Issue) -> str:
    """Return the rule of a finding; for what no rule has found, with the title."""
    is_own = issue.candidate.pattern in WITHOUT_RULE
    return f"{issue.candidate.pattern}: {finding_title(issue)}" if is_own else issue.candidate.pattern


def rule_of(issue: Issue) -> str:
    """Return the id of the rule of a finding in reports."""
    return rule_id(issue.candidate.pattern, issue.candidate.cwe)


def rules_of(issues: Iterable[Issue]) -> list[RuleText]:
    """Return the rules of the findings, by id."""
    representatives: dict[str, Issue] = {}
    severities: dict[str, set[str]] = {}
    for issue in issues:
        rule = rule_of(issue)
        if rule not in representatives or _is_configured(issue):
            representatives[rule] = issue
        if issue.suppression is None and issue.status != "dismissed":
            severities.setdefault(rule, set()).add(issue.severity)
    return [
        _rule_text(rule, issue, severities.get(rule, {issue.severity}))
        for rule, issue in sorted(representatives.items())
    ]


def rule_texts(issue: Issue, say: Words = ENGLISH) -> tuple[str, str]:
    """Return description and suggestion of the rule of a finding."""
    if issue.candidate.pattern not in WITHOUT_RULE:
        return issue.candidate.description, issue.candidate.suggestion
    name = weakness_name(issue.candidate.cwe) if issue.candidate.cwe else say("A defect")
    description = say(FUZZED, name=name) if issue.candidate.pattern == FUZZ_CRASH else say(DESCRIPTION, name=name)
    return description, say(SUGGESTION)


def _is_configured(issue: Issue) -> bool:
    """Return whether the user configured the rule's severity, which otherwise follows from the finding."""
    return bool(issue.severity != issue.derived_severity and not issue.is_rated)


def _rule_text(rule: str, issue: Issue, severities: set[str]) -> RuleText:
    """Return the texts of a rule, given a finding and the severities of those that count."""
    if issue.candidate.pattern in WITHOUT_RULE:
        return _weakness_text(rule, issue, min(severities) if len(severities) == 1 else None)
    table_rule = RULES_BY_PATTERN.get(issue.candidate.pattern)
    source = table_rule or issue.candidate
    severity = issue.severity if _is_configured(issue) else severity_of(source.confidence, source.cwe)
    title = table_rule.title if table_rule else title_of(issue.candidate.description)
    fields = {name: getattr(source, name) for name in RuleText._fields[1:] if hasattr(source, name)}
    return RuleText(**{**fields, "id": rule, "severity": severity, "title": title})


def _weakness_text(rule: str, issue: Issue, severity: str | None) -> RuleText:
    description, suggestion = rule_texts(issue)
    finder = "execution" if issue.candidate.pattern == FUZZ_CRASH else "a model"
    return RuleText(
        id=rule,
        language=issue.candidate.language,
        category=issue.candidate.category,
        cwe=issue.candidate.cwe,
        confidence=issue.candidate.confidence,
        severity=severity,
        title=f"{weakness_name(issue.candidate.cwe) if issue.candidate.cwe else 'Defect'} (found by {finder})",
        description=description,
        suggestion=suggestion,
    )
