"""Say why a run may have a finding and not tell: its rule was off, its file was not scanned, its score was too low.

A finding that a later run does not have is fixed only where none of this holds.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from jarvis_workers.sec.report_document import Issue, ReportBody

__all__ = ["WHOLE", "Looked", "unlooked"]

# The states of a run that has looked at everything, or says by name at what not.
WHOLE = ("done", "incomplete")
DISMISSED = "may be dismissed: not all that are dismissed are listed"


@dataclass(frozen=True, slots=True)
class Looked:
    """What a run was to look at; `scanned` returns which of some files are in its snapshot.

    `paths` are the files and directories that were named; empty: the whole tree.
    """

    state: str
    min_confidence: float
    off: Collection[str]
    scanned: Callable[[Collection[str]], Collection[str]]
    paths: Collection[str] = ()

    def covers(self, file: str) -> bool:
        return not self.paths or file in self.paths or any(above in self.paths for above in _above(file))


def unlooked(before: ReportBody, after: ReportBody, looked: Looked) -> Callable[[Issue], str | None]:
    """Return what says of a finding of `before` why `after` may have it, too, and not tell; None where it is gone."""
    summary = after.summary
    gaps = {gap.file: gap.reason for gap in summary.not_checked}
    excluded = {tree.path: tree.reason for tree in summary.excluded}
    least = min((issue.score for issue in after.issues), default=0.0) if summary.not_listed else 0.0
    left_out = _left_out(before, after, looked)
    dismissed = DISMISSED if summary.dismissed_not_listed else None

    def reason(issue: Issue) -> str | None:
        if looked.state not in WHOLE:
            return f"the run is {looked.state}"
        if issue.pattern in looked.off:
            return "its rule is off"
        if not looked.covers(issue.file):
            return "its file was not among those to scan"
        if issue.confidence < looked.min_confidence:
            return "below --min-confidence"
        if issue.score <= least:
            return "not among the highest-scoring findings that are listed"
        return gaps.get(issue.file) or _within(issue.file, excluded) or left_out(issue.file) or dismissed

    return reason


def _within(file: str, excluded: Mapping[str, str]) -> str | None:
    """Return why a directory above the file was not entered."""
    return next((excluded[tree] for tree in _above(file) if tree in excluded), None)


def _above(file: str) -> Iterator[str]:
    return (file[:place] for place, letter in enumerate(file) if letter == "/")


def _left_out(before: ReportBody, after: ReportBody, looked: Looked) -> Callable[[str], str | None]:
    """A file that is not in the snapshot may be left out if, for any reason, more files are than before."""
    olds, news = (Counter(body.summary.left_out) for body in (before, after))
    reasons = "; ".join(news - olds)
    scanned = looked.scanned({issue.file for issue in before.issues}) if reasons else ()
    return lambda file: f"may be left out: {reasons}" if reasons and file not in scanned else None
