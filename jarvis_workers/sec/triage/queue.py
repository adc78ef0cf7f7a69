"""The findings of a run for triage: worst first, lookup by name, and the code around each."""

import getpass
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sec.report.verdicts import urgency
from jarvis_workers.sec.report_document import Excerpt, Issue, ReportBody
from jarvis_workers.sec.run_reports.excerpts import read_around, read_excerpts
from jarvis_workers.sec.run_reports.reports import read_body
from jarvis_workers.sec.runs.scan_runs import ScanRun
from jarvis_workers.sec.triage.file import BY_MAX, REASON_MAX
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store

STATUSES = ("proved", "confirmed", "review", "undecided", "heuristic", "dismissed", "suppressed")
WORDS = {
    TriageState.TRUE: "true",
    TriageState.FALSE: "false",
    TriageState.WONTFIX: "won't fix",
    TriageState.LATER: "later",
}
# The number of excerpts read ahead: about what a user judges in a few minutes.
AHEAD = 20


class Sheet(NamedTuple):
    """The findings listed in a report, and the number of lower-scoring findings not listed."""

    findings: list[Issue]
    not_listed: int


def findings_of(store: Store, blobs: Blobs, run: ScanRun) -> Sheet:
    """Return the findings listed in the report of a scan, worst first; those set aside come last.

    Findings suppressed by comments are not included, as their authors have already judged them.
    """
    return sheet_of(read_body(store, blobs, run))


def sheet_of(body: ReportBody) -> Sheet:
    """Return the findings listed in a report, in the order of `findings_of`."""
    external = [one for one in body.suppressed if one.suppression and one.suppression.kind == "external"]
    result = [*body.issues, *body.dismissed, *(one._replace(status="suppressed") for one in external)]
    return Sheet(sorted(result, key=_worst_first), body.summary.not_listed)


def one_each(findings: Iterable[Issue]) -> Iterator[tuple[Issue, list[int]]]:
    """Yield one finding per fingerprint, with the lines of the others."""
    lines: dict[str, list[int]] = {}
    first: dict[str, Issue] = {}
    for issue in findings:
        first.setdefault(issue.fingerprint, issue)
        lines.setdefault(issue.fingerprint, []).append(issue.candidate.line)
    return ((issue, lines[fingerprint][1:]) for fingerprint, issue in first.items())


def find_finding(findings: Sequence[Issue], named: str) -> Issue:
    """Return the finding with this id or fingerprint. Raises UsageError."""
    for issue in findings:
        if named in (issue.id, issue.fingerprint):
            return issue
    raise UsageError(f'no finding "{plain(named)}" in the report of this run; see: --list')


def judgement(issue: Issue, verdict: TriageState, reason: str = "", by: str | None = None) -> Judgement:
    """Return a verdict of a user on a finding, by default of the user of this process.

    Raises UsageError for an invalid or missing reason.
    """
    text = " ".join(reason.split())
    if len(text) > REASON_MAX:
        raise UsageError(f"the reason has {len(text):,} characters; limit {REASON_MAX:,}")
    if not text.isprintable():
        raise UsageError(f"the reason {plain(text)} contains control characters")
    if verdict.needs_reason and not text:
        raise UsageError(f"{issue.id}: judging a finding {WORDS[verdict]} requires a reason")
    named = {"fingerprint": issue.fingerprint, "rule": issue.candidate.pattern, "file": issue.candidate.file}
    return Judgement(verdict=verdict, reason=text, by=current_user() if by is None else plain(by)[:BY_MAX], **named)


def current_user() -> str:
    """Return the name of the user; in a container, a user may have an id only."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = f"user {os.getuid()}"
    return plain(name)[:BY_MAX]


class Excerpts:
    """The code around findings, read from the snapshot in chunks in the order of the findings."""

    def __init__(self, blobs: Blobs, snapshot_id: str, findings: Sequence[Issue]) -> None:
        self._blobs = blobs
        self._snapshot_id = snapshot_id
        self._findings = findings
        self._read: dict[str, Excerpt | None] = {}

    def at(self, place: int, around: int | None = None) -> Excerpt | None:
        """Return the code around the finding at a place, or None if it can no longer be read.

        With `around`, return that many lines before and after it.
        """
        issue = self._findings[place]
        if around is not None:
            return read_around(self._blobs, self._snapshot_id, issue.candidate.file, issue.candidate.line, around)
        name = issue.id
        if name not in self._read:
            ahead = self._findings[place : place + AHEAD]
            excerpts = read_excerpts(self._blobs, self._snapshot_id, ahead)
            self._read |= {issue.id: excerpts.get(issue.id) for issue in ahead}
        return self._read[name]


def _worst_first(issue: Issue) -> tuple[bool, tuple[float, ...], int]:
    return issue.status == "suppressed", urgency(issue), issue.gid
