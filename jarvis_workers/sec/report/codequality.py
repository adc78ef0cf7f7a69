"""Render a report as Code Climate issues, the format of GitLab's Code Quality report: a JSON array.

Findings that were set aside are left out.  GitLab matches findings of two branches by fingerprint and rejects
duplicates, so equal findings get an ordinal.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_workers.escape import visible
from jarvis_workers.sec.report.ci_findings import explanation, from_repository, gaps_of, headline, path_of
from jarvis_workers.sec.report.json import dense
from jarvis_workers.sec.report.sarif_results import Numbered, number
from jarvis_workers.sec.report_document import ReportBody, ReportGap

Part = dict[str, Any]

# From the scale info, minor, major, critical, blocker.
SEVERITIES = {"high": "critical", "medium": "major", "low": "minor"}
GAPS_MAX = 1_000


def render_codequality(body: ReportBody, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield the array, one issue per line; a file that was not checked is an issue of severity blocker."""
    body = from_repository(body, run)
    before = "[\n"
    for gap in gaps_of(body.summary)[:GAPS_MAX]:
        yield before + dense(_gap(gap))
        before = ",\n"
    for numbered in number(body):
        issue = numbered.issue
        if issue.suppression is None and issue.status != "dismissed":
            yield before + dense(_issue(numbered))
            before = ",\n"
    yield "\n]\n" if before != "[\n" else "[]\n"


def _issue(numbered: Numbered) -> Part:
    issue, ordinal, _ = numbered
    return {
        "type": "issue",
        "check_name": issue.candidate.pattern,
        "description": visible(f"{headline(issue)}: {issue.candidate.evidence}"),
        "content": {"body": visible(explanation(issue))},
        "categories": ["Security"],
        "severity": SEVERITIES[issue.severity],
        "fingerprint": f"{issue.fingerprint}:{ordinal}",
        "location": {
            "path": path_of(issue.candidate.file),
            "lines": {"begin": max(1, issue.candidate.line), "end": max(1, issue.candidate.line)},
        },
    }


def _gap(gap: ReportGap) -> Part:
    return {
        "type": "issue",
        "check_name": "not-checked",
        "description": visible(f"Not checked: {gap.reason}"),
        "categories": ["Security"],
        "severity": "blocker",
        "fingerprint": f"not-checked:{gap.file}:{gap.reason}",
        "location": {"path": path_of(gap.file), "lines": {"begin": 1, "end": 1}},
    }
