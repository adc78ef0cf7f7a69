"""Describe the rules that fired in SARIF: meaning, reason and fix."""

import re
from collections.abc import Sequence
from typing import Any

from jarvis_workers.escape import fenced, prose
from jarvis_workers.sec.report.fired_rules import RuleText
from jarvis_workers.sec.severity import likelihood_of

Part = dict[str, Any]

LEVELS = {"high": "error", "medium": "warning", "low": "note"}
# GitHub shows 7 and above as high, 4 and above as medium; without a verdict, no rule is certain enough for critical.
SECURITY_SEVERITY = {"high": "8.0", "medium": "5.5", "low": "3.0"}
DEFINITION = "https://cwe.mitre.org/data/definitions/{}.html"
CWE = "CWE"


def describe(rule: RuleText, weaknesses: Sequence[int]) -> Part:
    """Return the rule as a reportingDescriptor; `weaknesses` are the CWE numbers of the taxonomy, in its order."""
    described: Part = {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in re.split(r"[\W_]+", rule.id)),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.description},
        "help": {"text": _help_text(rule), "markdown": _help_markdown(rule)},
        **({"defaultConfiguration": {"level": LEVELS[rule.severity]}} if rule.severity else {}),
        "properties": {
            "tags": [
                "security",
                rule.category,
                *([f"external/cwe/cwe-{rule.cwe:03}"] if rule.cwe else []),
            ],
            "precision": likelihood_of(rule.confidence),
            # Without it, GitHub shows the level of each result: the severity of one finding is not that of another.
            **({"security-severity": SECURITY_SEVERITY[rule.severity]} if rule.severity else {}),
        },
    }
    if rule.cwe:
        target = {
            "id": str(rule.cwe),
            "index": weaknesses.index(rule.cwe),
            "toolComponent": {"name": CWE, "index": 0},
        }
        described |= {
            "helpUri": DEFINITION.format(rule.cwe),
            "relationships": [{"target": target, "kinds": ["superset"]}],
        }
    return described


def taxonomy(weaknesses: Sequence[int]) -> Part:
    """Return the CWE taxonomy, limited to the entries that the rules refer to."""
    return {
        "name": CWE,
        "organization": "MITRE",
        "shortDescription": {"text": "Common Weakness Enumeration"},
        "informationUri": "https://cwe.mitre.org/",
        "isComprehensive": False,
        "taxa": [{"id": str(number), "helpUri": DEFINITION.format(number)} for number in weaknesses],
    }


def _help_text(rule: RuleText) -> str:
    parts = [f"Why: {rule.description}", f"What to do: {rule.suggestion}"]
    parts += [f"{label}:\n{example}" for label, example in (("Bad", rule.bad), ("Good", rule.good)) if example]
    return "\n\n".join(parts)


def _help_markdown(rule: RuleText) -> str:
    parts = [f"**Why:** {prose(rule.description)}", f"**What to do:** {prose(rule.suggestion)}"]
    parts += [
        f"**{label}:**\n\n{fenced(example, 'rust' if rule.language == 'rust' else 'c')}"
        for label, example in (("Bad", rule.bad), ("Good", rule.good))
        if example
    ]
    if rule.cwe:
        parts.append(f"See [CWE-{rule.cwe}]({DEFINITION.format(rule.cwe)}).")
    return "\n\n".join(parts)
