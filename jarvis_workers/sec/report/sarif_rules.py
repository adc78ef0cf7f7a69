"""Describe the rules that fired in SARIF: meaning, reason and fix."""

import re
from collections.abc import Sequence
from typing import Any

from jarvis_workers.escape import fenced, prose
from jarvis_workers.sec.finding import severity_of
from jarvis_workers.sec.report.fired_rules import RuleText

Part = dict[str, Any]

LEVELS = {"high": "error", "medium": "warning", "low": "note"}
# GitHub shows 7 and above as high, 4 and above as medium; without a verdict, no rule is certain enough for critical.
SECURITY_SEVERITY = {"high": "8.0", "medium": "5.5", "low": "3.0"}
DEFINITION = "https://cwe.mitre.org/data/definitions/{}.html"
CWE = "CWE"


def describe(told: RuleText, weaknesses: Sequence[int]) -> Part:
    """Return the rule as a reportingDescriptor; `weaknesses` are the CWE numbers of the taxonomy, in its order."""
    described: Part = {
        "id": told.pattern,
        "name": "".join(word.capitalize() for word in re.split(r"[\W_]+", told.pattern)),
        "shortDescription": {"text": told.title},
        "fullDescription": {"text": told.description},
        "help": {"text": _help_text(told), "markdown": _help_markdown(told)},
        "defaultConfiguration": {"level": LEVELS[told.severity]},
        "properties": {
            "tags": ["security", told.category, *([f"external/cwe/cwe-{told.cwe:03}"] if told.cwe else [])],
            "precision": severity_of(told.confidence),
            "security-severity": SECURITY_SEVERITY[told.severity],
        },
    }
    if told.cwe:
        target = {"id": str(told.cwe), "index": weaknesses.index(told.cwe), "toolComponent": {"name": CWE, "index": 0}}
        described |= {
            "helpUri": DEFINITION.format(told.cwe),
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


def _help_text(told: RuleText) -> str:
    parts = [f"Why: {told.description}", f"What to do: {told.suggestion}"]
    parts += [f"{label}:\n{example}" for label, example in (("Bad", told.bad), ("Good", told.good)) if example]
    return "\n\n".join(parts)


def _help_markdown(told: RuleText) -> str:
    parts = [f"**Why:** {prose(told.description)}", f"**What to do:** {prose(told.suggestion)}"]
    parts += [
        f"**{label}:**\n\n{fenced(example, 'rust' if told.language == 'rust' else 'c')}"
        for label, example in (("Bad", told.bad), ("Good", told.good))
        if example
    ]
    if told.cwe:
        parts.append(f"See [CWE-{told.cwe}]({DEFINITION.format(told.cwe)}).")
    return "\n\n".join(parts)
