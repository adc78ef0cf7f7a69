"""Reasons why a run may not report an existing finding: rule disabled, file not scanned, score too low.

A finding that a later run lacks counts as fixed only if none of these applies.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from jarvis_workers.sec.report_document import Issue, ReportBody

# The states of a run that has checked everything or lists the unchecked files.
WHOLE = ("done", "incomplete")
DISMISSED = "may be dismissed: not all dismissed findings are listed"


@dataclass(frozen=True, slots=True)
class Looked:
    """The scope of a run; `scanned` returns the given files that are in its snapshot.

    `paths` are the files and directories to which the run was limited; empty for the whole tree.
    """

    state: str
    min_confidence: float
    off: Collection[str]
    scanned: Callable[[Collection[str]], Collection[str]]
    paths: Collection[str] = ()

    def covers(self, file: str) -> bool:
        return not self.paths or file in self.paths or any(above in self.paths for above in _above(file))


def absence_reasons(before: ReportBody, after: ReportBody, looked: Looked) -> Callable[[Issue], str | None]:
    """Return a function from a finding of `before` to the reason why `after` may lack it, or None if it is gone."""
    summary = after.summary
    gaps = {gap.file: gap.reason for gap in summary.not_checked}
    excluded = {tree.path: tree.reason for tree in summary.excluded}
    least = min((issue.score for issue in after.issues), default=0.0) if summary.not_listed else 0.0
    left_out = _left_out(before, after, looked)
    dismissed = DISMISSED if summary.dismissed_not_listed else None

    def reason(issue: Issue) -> str | None:
        if looked.state not in WHOLE:
            return f"the run is {looked.state}"
        if issue.candidate.pattern in looked.off:
            return "its rule is disabled"
        file = issue.candidate.file
        if not looked.covers(file):
            return "its file was not selected for the scan"
        if issue.candidate.is_weaker(looked.min_confidence):
            return "below --min-confidence"
        if issue.score <= least:
            return "not among the highest-scoring findings that are listed"
        return gaps.get(file) or _within(file, excluded) or left_out(file) or dismissed

    return reason


def _within(file: str, excluded: Mapping[str, str]) -> str | None:
    """Return the reason why a directory above the file was excluded."""
    return next((excluded[tree] for tree in _above(file) if tree in excluded), None)


def _above(file: str) -> Iterator[str]:
    return (file[:place] for place, letter in enumerate(file) if letter == "/")


def _left_out(before: ReportBody, after: ReportBody, looked: Looked) -> Callable[[str], str | None]:
    """Return a function from a file to the reason why it may be left out.

    A file may be left out if it is not in the snapshot and if more files than before are left out for some reason.
    """
    olds, news = (Counter(body.summary.left_out) for body in (before, after))
    reasons = "; ".join(news - olds)
    scanned = looked.scanned({issue.candidate.file for issue in before.issues}) if reasons else ()
    return lambda file: f"may be omitted: {reasons}" if reasons and file not in scanned else None
