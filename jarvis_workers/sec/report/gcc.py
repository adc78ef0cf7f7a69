"""Render a report as compiler warnings, which editors, reviewdog and build servers parse.

    src/list.c:40:5: warning: Unbounded string copy (high, CWE-120) [unsafe_api]

Every finding is a `warning`: an `error` would mean that compilation failed, and a `note` belongs to the line before it.
A file that was not checked is a warning of the rule `not-checked`.  Build servers execute commands in printed output:
`::name::` at the start of a line is written `./::name::`, and `##[name]` anywhere `#\\x23[name]`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_workers.paths import plain
from jarvis_workers.sec.report.ci_findings import from_repository, gaps_of, headline
from jarvis_workers.sec.report_document import Issue, ReportBody

# Commands of GitHub Actions, Azure Pipelines and TeamCity. Culture-sensitive comparisons skip some non-ASCII letters.
_SKIPPED = "[^ -~]*"
_NAMES = "|".join("".join(f"{letter}{_SKIPPED}" for letter in name) for name in ("", "vso", "teamcity"))
_ORDER = re.compile(rf"(?i)#(?P<skipped>{_SKIPPED})#(?={_SKIPPED}(?:{_NAMES})\[)")
_ORDER_AT_START = re.compile(f" *{_SKIPPED}:{_SKIPPED}:")


def render_gcc(body: ReportBody, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield one line per finding that counts, in the order of the report."""
    body = from_repository(body, run)
    for issue in body.issues:
        yield _line(
            issue.candidate.file, issue.candidate.line, issue.candidate.column, _message(issue), issue.candidate.pattern
        )
    for gap in gaps_of(body.summary):
        yield _line(gap.file, 1, None, f"not checked: {gap.reason}", "not-checked")


def _message(issue: Issue) -> str:
    weakness = f", CWE-{issue.candidate.cwe}" if issue.candidate.cwe else ""
    return f"{headline(issue)} ({issue.severity}{weakness})"


def _line(file: str, line: int, column: int | None, message: str, rule: str) -> str:
    text = f"{plain(file)}:{max(1, line)}:{column or 1}: warning: {plain(message)} [{plain(rule)}]\n"
    start = "./" if _ORDER_AT_START.match(text) else ""
    return start + _ORDER.sub(r"#\g<skipped>\\x23", text)
