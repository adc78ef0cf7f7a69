"""Render a report in GitLab's SAST report format, version 15, for `artifacts: reports: sast`.

A vulnerability is tracked by its fingerprint, which excludes the line number.  A scan that left files unchecked has the
status "failure" and a message for each file.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from jarvis_workers import __version__
from jarvis_workers.escape import prose, visible
from jarvis_workers.sec.report.ci_findings import explanation, from_repository, gaps_of, headline, path_of
from jarvis_workers.sec.report.json import dense
from jarvis_workers.sec.report.sarif_results import Numbered, number
from jarvis_workers.sec.report.sarif_rules import DEFINITION
from jarvis_workers.sec.report_document import Issue, ReportBody, ReportGap

Part = dict[str, Any]

# The oldest schema version that all supported versions of GitLab accept.
VERSION = "15.0.7"
SEVERITIES = {"high": "High", "medium": "Medium", "low": "Low"}
# Limits of the schema, and limits for readability.
NAME_MAX, SOLUTION_MAX, DESCRIPTION_MAX, MESSAGES_MAX = 255, 7_000, 100_000, 1_000
EPOCH = "1970-01-01T00:00:00"


def render_gitlab_sast(body: ReportBody, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report, one vulnerability per line; dismissed and suppressed findings are left out."""
    body = from_repository(body, run)
    yield f'{{"version":{dense(VERSION)},\n"scan":{dense(_scan(body, run))},\n"vulnerabilities":['
    before = "\n"
    for numbered in number(body):
        issue = numbered.issue
        if issue.suppression is None and issue.status != "dismissed":
            yield before + dense(_vulnerability(numbered))
            before = ",\n"
    yield "]}\n"


def _scan(body: ReportBody, run: Mapping[str, Any]) -> Part:
    tool = {
        "id": "jarvis",
        "name": "Jarvis",
        "vendor": {"name": "Jarvis Workers"},
        "version": run.get("version") or __version__,
    }
    gaps = gaps_of(body.summary)
    complete = not gaps and run.get("state", "done") == "done"
    messages = [{"level": "warn", "value": _not_checked(gap)} for gap in gaps[:MESSAGES_MAX]]
    if len(gaps) > MESSAGES_MAX:
        messages.append({"level": "warn", "value": f"Not checked: {len(gaps) - MESSAGES_MAX:,} more files."})
    return {
        "analyzer": tool,
        "scanner": tool,
        "type": "sast",
        "start_time": _moment(run.get("created_at")),
        "end_time": _moment(run.get("ended_at") or run.get("created_at")),
        "status": "success" if complete else "failure",
        **({"messages": messages} if messages else {}),
    }


def _not_checked(gap: ReportGap) -> str:
    return visible(f"Not checked: {gap.file}: {gap.reason}")


def _moment(written: str | None) -> str:
    """Return the time in UTC without fraction or offset, as the schema requires."""
    return (written or EPOCH)[: len(EPOCH)]


def _vulnerability(numbered: Numbered) -> Part:
    issue, ordinal, _ = numbered
    file, line = path_of(issue.candidate.file), max(1, issue.candidate.line)
    signature = {"algorithm": "hash", "value": f"{issue.fingerprint}:{ordinal}"}
    place = {"file": file, "start_line": line, "end_line": line}
    return {
        "id": str(uuid5(NAMESPACE_URL, f"jarvis:{file}:{issue.candidate.pattern}:{issue.fingerprint}:{ordinal}")),
        "name": visible(headline(issue))[:NAME_MAX],
        "description": _description(issue)[:DESCRIPTION_MAX],
        "severity": SEVERITIES[issue.severity],
        "solution": visible(issue.opinion.suggestions or issue.candidate.suggestion)[:SOLUTION_MAX],
        "identifiers": list(_identifiers(issue)),
        "location": place,
        "raw_source_code_extract": visible(issue.candidate.evidence),
        "tracking": {"type": "source", "items": [place | {"signatures": [signature]}]},
    }


def _description(issue: Issue) -> str:
    """Return the explanation, and the steps of a data-flow finding, as Markdown."""
    steps = [f"{place}. {prose(f'{step.file}:{step.line}: {step.note}')}" for place, step in enumerate(issue.path, 1)]
    return "\n\n".join(filter(None, [prose(explanation(issue)), "\n".join(steps)]))


def _identifiers(issue: Issue) -> Iterator[Part]:
    yield {"type": "jarvis_rule", "name": f"Jarvis {issue.candidate.pattern}", "value": issue.candidate.pattern}
    if issue.candidate.cwe:
        yield {
            "type": "cwe",
            "name": f"CWE-{issue.candidate.cwe}",
            "value": str(issue.candidate.cwe),
            "url": DEFINITION.format(issue.candidate.cwe),
        }
