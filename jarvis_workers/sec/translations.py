"""Translations of the texts of the built-in rules, stored by rule id in `rules/zh.json`.

The English text is the key, so that texts of other versions and of a project's own rules remain unchanged.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jarvis_workers.sec import rules
from jarvis_workers.sec.report_document import Issue, ReportBody
from jarvis_workers.sec.rules import RULES_BY_PATTERN, Rule
from jarvis_workers.words import TRANSLATED

CANDIDATE_TEXTS = ("description", "suggestion")
RULE_TEXTS = ("title", *CANDIDATE_TEXTS, "verification")


def rule_in(language: str, rule: Rule) -> Rule:
    """Return the rule with its texts in a language."""
    return rule._replace(**_translated(rule, RULE_TEXTS, _translations(language)))


def report_in(language: str, body: ReportBody) -> ReportBody:
    """Return the body of a report with the texts of rules in a language; for English, the body itself."""
    translations = _translations(language)
    if not translations:
        return body
    fired = [
        RULES_BY_PATTERN[name]
        for name in {issue.candidate.pattern for issue in body.findings} & RULES_BY_PATTERN.keys()
    ]
    titles = {rule.pattern: translations.get(rule.title, rule.title) for rule in fired}

    def translated(issue: Issue) -> Issue:
        question = translations.get(issue.verification, issue.verification)
        texts = _translated(issue.candidate, CANDIDATE_TEXTS, translations)
        return issue._replace(candidate=issue.candidate._replace(**texts), verification=question)

    return body.map_findings(translated)._replace(titles=titles)


def _translated(has: object, names: Sequence[str], translations: Mapping[str, str]) -> dict[str, Any]:
    texts = ((name, getattr(has, name)) for name in names)
    return {name: translations[text] for name, text in texts if text in translations}


@cache
def _translations(language: str) -> dict[str, str]:
    if language not in TRANSLATED:
        return {}
    table = json.loads(files(rules).joinpath(f"{language}.json").read_text("utf-8"))
    return {getattr(RULES_BY_PATTERN[one], name): text for one, texts in table.items() for name, text in texts.items()}
