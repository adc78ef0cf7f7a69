"""Render a report as workflow commands of GitHub Actions, which annotate the lines of a pull request.

    ::error file=src/list.c,line=40,endLine=40,col=5,title=Unbounded string copy [unsafe_api]::Copies without a bound.

GitHub shows at most ten errors, ten warnings and ten notices of a step and silently drops the others.  The worst
findings of each level are written, and a last line, which is not a command, counts all findings.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.escape import visible
from jarvis_workers.sec.report.ci_findings import explanation, from_repository, gaps_of, headline, path_of
from jarvis_workers.sec.report.text import total_line
from jarvis_workers.sec.report.verdicts import worst_first
from jarvis_workers.sec.report_document import Issue, ReportBody, ReportGap

LEVELS = {"high": "error", "medium": "warning", "low": "notice"}
# https://docs.github.com/en/actions/reference/limits: annotations of each level that a step may have.
ANNOTATIONS_MAX = 10
MESSAGE_MAX = 4_000
# Escapes of the GitHub Actions toolkit: `%` first.
DATA = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
PROPERTY = (*DATA, (":", "%3A"), (",", "%2C"))


def render_github(body: ReportBody, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield the worst findings as annotations, an error for unchecked files, and a line with the numbers."""
    body = from_repository(body, run)
    gaps = gaps_of(body.summary)
    if gaps:
        yield _gap(gaps)
    levels: defaultdict[str, list[Issue]] = defaultdict(list)
    for issue in worst_first(body.issues):
        levels[LEVELS[issue.severity]].append(issue)
    room = {"error": ANNOTATIONS_MAX - bool(gaps)}
    shown = [issue for level, issues in levels.items() for issue in issues[: room.get(level, ANNOTATIONS_MAX)]]
    for issue in shown:
        yield _annotation(issue)
    more = body.summary.total - len(shown)
    yield f"{total_line(body.summary, run)}{f' ({more:,} of them not annotated)' if more > 0 else ''}\n"


def _annotation(issue: Issue) -> str:
    line = max(1, issue.candidate.line)
    properties = {
        "file": path_of(issue.candidate.file),
        "line": line,
        "endLine": line,
        **({"col": issue.candidate.column} if issue.candidate.column else {}),
        "title": f"{headline(issue)} [{issue.candidate.pattern}]",
    }
    return _command(LEVELS[issue.severity], explanation(issue), **properties)


def _gap(gaps: Sequence[ReportGap]) -> str:
    files = f"{len(gaps):,} file{'' if len(gaps) == 1 else 's'}"
    return _command("error", f"{files} not checked; first: {gaps[0].file}: {gaps[0].reason}", title="Not checked")


def _command(name: str, message: str, **properties: object) -> str:
    written = ",".join(f"{key}={_escaped(str(value), PROPERTY)}" for key, value in properties.items())
    return f"::{name} {written}::{_escaped(visible(message[:MESSAGE_MAX]), DATA)}\n"


def _escaped(text: str, escapes: Sequence[tuple[str, str]]) -> str:
    for letter, written in escapes:
        text = text.replace(letter, written)
    return text
