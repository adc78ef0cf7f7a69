"""Render a short report as Markdown for the job summary of GitHub Actions, which is limited to 1 MiB.

The summary contains the numbers, the worst findings and the files that were not checked; its size is bounded for any
tree.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.escape import code_cell, prose
from jarvis_workers.sec.report.ci_findings import from_repository, gaps_of, headline
from jarvis_workers.sec.report.text import total_line
from jarvis_workers.sec.report.verdicts import worst_first
from jarvis_workers.sec.report_document import Issue, ReportBody, ReportGap

FINDINGS_MAX = 100
GAPS_MAX = 20
TEXT_MAX = 200


def render_github_summary(body: ReportBody, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield a heading with the numbers, a table of the worst findings, and the files that were not checked."""
    body = from_repository(body, run)
    yield f"### Jarvis: {prose(total_line(body.summary, run))}\n"
    yield from _gaps(gaps_of(body.summary))
    yield from _findings(body)


def _gaps(gaps: Sequence[ReportGap]) -> Iterator[str]:
    if not gaps:
        return
    yield f"\n**Not checked, in whole or in part: {len(gaps):,} file{'' if len(gaps) == 1 else 's'}.**\n\n"
    for gap in gaps[:GAPS_MAX]:
        yield f"- {code_cell(_short(gap.file))}: {prose(_short(gap.reason))}\n"
    if len(gaps) > GAPS_MAX:
        yield f"- and {len(gaps) - GAPS_MAX:,} more\n"


def _findings(body: ReportBody) -> Iterator[str]:
    if not body.issues:
        return
    yield "\n| severity | location | finding | rule |\n| --- | --- | --- | --- |\n"
    for issue in worst_first(body.issues)[:FINDINGS_MAX]:
        yield _row(issue)
    more = body.summary.total - FINDINGS_MAX
    if more > 0:
        yield f"\nThe report has {more:,} more findings with lower scores.\n"


def _row(issue: Issue) -> str:
    place, rule = (
        code_cell(f"{_short(issue.candidate.file)}:{issue.candidate.line}"),
        code_cell(_short(issue.candidate.pattern)),
    )
    return f"| {issue.severity} | {place} | {prose(_short(headline(issue)))} | {rule} |\n"


def _short(text: str) -> str:
    """Return the end of a long text, the part that distinguishes files."""
    return text if len(text) <= TEXT_MAX else f"…{text[-TEXT_MAX:]}"
