"""Findings of a report for tests, built from their JSON fields."""

from collections.abc import Mapping
from typing import Any

from jarvis_workers.sec.report_document import Issue, ReportBody
from jarvis_workers.sec.report_json import body_from_json

FACTS = {
    "id": "C1a2b3c",
    "gid": 1,
    "language": "c/cpp",
    "category": "unsafe_api",
    "pattern": "unsafe_api",
    "file": "a.c",
    "line": 1,
    "evidence": "strcpy(d, s);",
    "description": "copies without a bound",
    "suggestion": "pass the size",
    "confidence": 0.8,
    "severity": "high",
    "score": 2.4,
    "status": "heuristic",
    "cwe": 120,
    "fingerprint": "0" * 16,
}


def body_of(summary: Mapping[str, Any], **lists: list[dict[str, Any]]) -> ReportBody:
    """Return the body of a report; missing fields of findings are filled in."""
    rows = {name: [FACTS | row for row in found] for name, found in lists.items()}
    return body_from_json({"summary": summary, **rows})


def issue_of(row: Mapping[str, Any]) -> Issue:
    """Return a finding with these fields, and FACTS for the others."""
    (found,) = body_of({}, issues=[dict(row)]).issues
    return found


def at(issue: Issue, **fields: Any) -> Issue:
    """Return the finding with other fields of its candidate."""
    return issue._replace(candidate=issue.candidate._replace(**fields))
