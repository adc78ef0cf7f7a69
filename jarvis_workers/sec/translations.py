"""Translations of the texts of the built-in rules: `rules/zh.json` has them by id.

The English text is the key: texts of other versions and of a project's own rules remain unchanged.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jarvis_workers.sec import rules
from jarvis_workers.sec.report.i18n import TRANSLATED
from jarvis_workers.sec.rules import RULES_BY_PATTERN, Rule

__all__ = ["report_in", "rule_in"]

TEXTS = ("title", "description", "suggestion", "verification")
LISTS = ("issues", "dismissed", "suppressed")


def rule_in(language: str, rule: Rule) -> Rule:
    """Return the rule with its texts in a language."""
    return rule._replace(**_translated(rule._asdict(), _translations(language)))


def report_in(language: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a report with the texts of rules in a language; in English, the same body."""
    known = _translations(language)
    if not known:
        return body
    return body | {name: [one | _translated(one, known) for one in body[name]] for name in LISTS if name in body}


def _translated(has: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    return {name: known[has[name]] for name in TEXTS if has.get(name) in known}


@cache
def _translations(language: str) -> dict[str, str]:
    if language not in TRANSLATED:
        return {}
    table = json.loads(files(rules).joinpath(f"{language}.json").read_text("utf-8"))
    return {getattr(RULES_BY_PATTERN[one], name): text for one, texts in table.items() for name, text in texts.items()}
