"""The findings of a run for triage: worst first, lookup by name, and the code around each."""

import getpass
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import from_shown, plain
from jarvis_workers.sec.report.verdicts import urgency
from jarvis_workers.sec.report_document import Excerpt, Issue, ReportBody
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.run_reports.excerpts import read_around, read_excerpts
from jarvis_workers.sec.run_reports.reports import read_body
from jarvis_workers.sec.runs.scan_runs import ScanRun, find_scan, newest_scans
from jarvis_workers.sec.severity import SEVERITIES
from jarvis_workers.sec.triage.file import BY_MAX, REASON_MAX
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.selection import Selection
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
RUNS_SEARCHED = 20


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


def find_issue(
    store: Store, blobs: Blobs, named: str, run: str | None, *, with_proof: bool = False
) -> tuple[ScanRun, Issue]:
    """Return a finding by its id or fingerprint, with its run: `run`, or the newest scan that has it.

    With `with_proof`, scans in which the finding has a proof take precedence. Raises UsageError.
    """
    if run is not None:
        chosen = find_scan(store, run)
        return chosen, find_finding(findings_of(store, blobs, chosen).findings, named)
    scans = newest_scans(store, RUNS_SEARCHED)
    listed = ((scan, issue) for scan in scans for issue in findings_of(store, blobs, scan).findings)
    found = ((scan, issue) for scan, issue in listed if named in (issue.id, issue.fingerprint))
    if newest := next(found, None):
        every = chain((newest,), found) if with_proof else ()
        return next((one for one in every if _has_proof(one[1])), newest)
    raise UsageError(f'no finding "{plain(named)}" in the newest scans ({len(scans)}); name its run with --run')


def _has_proof(issue: Issue) -> bool:
    return issue.proof is not None and issue.proof.state != "failed"


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


# Select findings for triage: by rule, severity, file, category, status and triage state.

# The state of a finding without a verdict.
OPEN = "open"
STATES = (OPEN, *TriageState)
ASIDE = ("dismissed", "suppressed")


@dataclass(frozen=True)
class Filter:
    """Conditions on a finding; an empty part imposes none.

    `files` are globs with git's semantics, relative to the scanned root. If one starts with `prefix`, the path to the
    root as shown in the text report, it also matches without the prefix. `statuses` are those of reports, `states`
    those of triage: both must match if both are given.
    """

    rules: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    prefix: str = field(default="", compare=False)

    @property
    def globs(self) -> tuple[str, ...]:
        if not self.prefix:
            return self.files
        start = f"{self.prefix}/"
        return self.files + tuple(one.removeprefix(start) for one in self.files if one.startswith(start))

    def __bool__(self) -> bool:
        return self != Filter()

    def __str__(self) -> str:
        """The options of this filter, on one line."""
        parts = {
            "--rule": self.rules,
            "--severity": self.severities,
            "--file": self.files,
            "--category": self.categories,
            "--status": (*self.statuses, *self.states),
        }
        return " ".join(f"{name} {plain(','.join(values))}" for name, values in parts.items() if values)


def read_filter(
    *,
    rules: Sequence[str] | None = None,
    severities: Sequence[str] | None = None,
    files: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
    statuses: Sequence[str] | None = None,
) -> Filter:
    """Parse the values of the options, each repeated or comma-separated. Raises UsageError for an unknown word."""
    words = list(_words(statuses))
    _refuse_unknown("--severity", list(_words(severities)), SEVERITIES)
    _refuse_unknown("--status", words, [*STATUSES, *STATES])
    return Filter(
        tuple(_words(rules)),
        tuple(_words(severities)),
        tuple(_words(files)),
        tuple(_words(categories)),
        tuple(word for word in words if word in STATUSES),
        tuple(word for word in words if word in STATES),
    )


def matching(
    findings: Sequence[Issue], judgements: Mapping[str, Judgement], criteria: Filter, *, judged: bool
) -> list[Issue]:
    """Return the findings that match a filter.

    Unless `judged`, or if the filter names a state, only open findings match: without a verdict and not suppressed.
    Raises UsageError for a rule or category that neither the findings nor the rule table have.
    """
    there = frozenset[str]().union(*(issue.rules for issue in findings))
    _refuse_unknown("--rule", criteria.rules, there | RULES_BY_PATTERN.keys())
    categories = {rule.category for rule in RULES_BY_PATTERN.values()}
    _refuse_unknown("--category", criteria.categories, {issue.candidate.category for issue in findings} | categories)
    selection = Selection(frozenset(), include=criteria.globs)
    states = criteria.states or (() if judged else (OPEN,))
    aside = judged or bool(criteria.statuses or set(criteria.states) - {OPEN})
    return [
        issue
        for issue in findings
        if not (criteria.rules and issue.rules.isdisjoint(criteria.rules))
        and _fits(issue.severity, criteria.severities)
        and _fits(issue.candidate.category, criteria.categories)
        and _fits(issue.status, criteria.statuses)
        and _fits(_state(judgements.get(issue.fingerprint)), states)
        and (aside or issue.status not in ASIDE)
        and any(map(selection.includes, _with_directories(from_shown(issue.candidate.file))))
    ]


def _with_directories(path: bytes) -> Iterator[bytes]:
    """Yield a path and its parent directories in the form for globs: directories end with a slash."""
    yield path
    yield from (path[: place + 1] for place, letter in enumerate(path) if letter == ord("/"))


def _words(values: Iterable[str] | None) -> Iterator[str]:
    return (word.strip() for value in values or () for word in value.split(",") if word.strip())


def _fits(value: str, values: Collection[str]) -> bool:
    return not values or value in values


def _state(judgement: Judgement | None) -> str:
    return OPEN if judgement is None else judgement.verdict.value


def _refuse_unknown(option: str, values: Iterable[str], choices: Collection[str]) -> None:
    for value in values:
        if value in choices:
            continue
        close = get_close_matches(value, choices, n=1)
        hint = f' (did you mean "{close[0]}"?)' if close else ""
        few = f"; expected one of {', '.join(choices)}" if isinstance(choices, Sequence) and not close else ""
        raise UsageError(f'{option}: "{plain(value)}" is unknown{hint}{few}')
