"""Render a report as CSV (RFC 4180), for spreadsheets and databases.

A spreadsheet evaluates a cell that begins with `=`, `+`, `-` or `@`: such text from the scanned tree is prefixed with
an apostrophe (CWE-1236).  Every finding has a row, including those set aside, and so does every file that was not
checked.
"""

import csv
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any

from jarvis_workers.escape import visible
from jarvis_workers.paths import listing
from jarvis_workers.sec.report.ci_findings import WITNESSES_MAX, from_repository, gaps_of
from jarvis_workers.sec.report.fired_rules import finding_title
from jarvis_workers.sec.report.sarif_results import message_text
from jarvis_workers.sec.report.verdicts import witness_texts
from jarvis_workers.sec.report_document import Issue, ReportBody

FIELDS = ("id", "file", "line", "column", "severity", "confidence", "score", "status", "pattern", "category", "cwe")
COLUMNS = (*FIELDS, "language", "title", "message", "evidence", "fingerprint", "suppression", "witnesses")
NOT_CHECKED = "not checked"
EVALUATED = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
ROWS = 500


def render_csv(body: ReportBody, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield a header and the rows, in chunks of a few hundred rows."""
    body = from_repository(body, run)
    text = StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    table.writerow(COLUMNS)
    for number, row in enumerate(_rows(body), 1):
        table.writerow([_cell(value) for value in row])
        if number % ROWS == 0:
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


def _rows(body: ReportBody) -> Iterator[tuple[object, ...]]:
    for issue in body.findings:
        facts = (issue.value(name) for name in FIELDS)
        title = finding_title(issue)
        yield (
            *facts,
            issue.candidate.language,
            title,
            message_text(issue),
            issue.candidate.evidence,
            issue.fingerprint,
            _aside(issue),
            listing(witness_texts(issue), WITNESSES_MAX) or None,
        )
    for gap in gaps_of(body.summary):
        row = {"file": gap.file, "status": NOT_CHECKED, "message": gap.reason}
        yield tuple(row.get(name) for name in COLUMNS)


def _aside(issue: Issue) -> str | None:
    return (issue.suppression.justification or issue.suppression.kind) if issue.suppression else None


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    shown = visible(value)
    return f"'{shown}" if shown.lstrip().startswith(EVALUATED) else shown
