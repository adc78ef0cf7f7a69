"""Compare the findings of two reports: what is new, what is fixed, and whose verdict has changed.

Findings are known by their fingerprints, each as often as it was found.  What the later run has not looked at is never
called fixed, and what was set aside in both (dismissed, suppressed) is not spoken of.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from jarvis_workers.sec.finding import is_at_least
from jarvis_workers.sec.report.verdicts import rank
from jarvis_workers.sec.report_document import Issue, ReportBody

__all__ = ["Changed", "Difference", "Missing", "compare", "status_of"]


SUPPRESSED = "suppressed"
ASIDE = ("dismissed", SUPPRESSED)


class Changed(NamedTuple):
    """A finding that both runs have, as the later one has it, and what each says of it."""

    issue: Issue
    was: str
    now: str

    @property
    def is_back(self) -> bool:
        """Whether it was set aside, and is a finding now."""
        return self.was in ASIDE and self.now not in ASIDE


class Missing(NamedTuple):
    """A finding that the later run has not looked for, and why."""

    issue: Issue
    reason: str


@dataclass(slots=True)
class Difference:
    """Each list has the worst first; `unchanged` counts findings that both have with the same verdict."""

    new: list[Issue] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    fixed: list[Issue] = field(default_factory=list)
    not_checked: list[Missing] = field(default_factory=list)
    unchanged: int = 0

    @property
    def counts(self) -> dict[str, int]:
        lists = {name: len(getattr(self, name)) for name in ("new", "changed", "fixed", "not_checked")}
        return lists | {"unchanged": self.unchanged}

    def added(self, level: str) -> list[Issue]:
        """Return findings that were not there before, of this severity or above; what is back is new, too."""
        added = [*self.new, *(one.issue for one in self.changed if one.is_back)]
        return [issue for issue in added if is_at_least(issue.severity, level)]


def compare(before: ReportBody, after: ReportBody, unlooked: Callable[[Issue], str | None]) -> Difference:
    """Compare two bodies; `unlooked` says why the later run may have a finding and not tell, None where it has not."""
    found, olds, news = Difference(), _by_fingerprint(before), _by_fingerprint(after)
    for fingerprint in dict.fromkeys([*news, *olds]):
        _pair(found, olds.get(fingerprint, []), news.get(fingerprint, []), unlooked)
    found.new.sort(key=_worst_first)
    found.fixed.sort(key=_worst_first)
    found.changed.sort(key=lambda one: _worst_first(one.issue))
    found.not_checked.sort(key=lambda one: _worst_first(one.issue))
    return found


def status_of(issue: Issue) -> str:
    """Return what a report says of a finding, in a word."""
    return SUPPRESSED if issue.suppression else str(issue.status)


def _by_fingerprint(body: ReportBody) -> dict[str, list[Issue]]:
    found: defaultdict[str, list[Issue]] = defaultdict(list)
    for issue in (*body.issues, *body.dismissed, *body.suppressed):
        found[issue.fingerprint].append(issue)
    return found


def _pair(into: Difference, olds: list[Issue], news: list[Issue], unlooked: Callable[[Issue], str | None]) -> None:
    """Take together what has the same verdict, then what has another; what is left over was or is not there."""
    common = Counter(map(status_of, olds)) & Counter(map(status_of, news))
    into.unchanged += sum(number for status, number in common.items() if status not in ASIDE)
    left, right = list(_without(olds, common)), list(_without(news, common))
    pairs = min(len(left), len(right))
    for old, new in zip(left[:pairs], right[:pairs], strict=True):
        into.changed.append(Changed(new, status_of(old), status_of(new)))
    into.new += [issue for issue in right[pairs:] if status_of(issue) not in ASIDE]
    for issue in left[pairs:]:
        if status_of(issue) in ASIDE:
            continue
        if reason := unlooked(issue):
            into.not_checked.append(Missing(issue, reason))
        else:
            into.fixed.append(issue)


def _without(issues: Iterable[Issue], common: Mapping[str, int]) -> Iterator[Issue]:
    """Leave out the first of each status, as many as there are on both sides."""
    left = dict(common)
    for issue in issues:
        status = status_of(issue)
        if left.get(status, 0):
            left[status] -= 1
        else:
            yield issue


def _worst_first(issue: Issue) -> tuple[float, float, str, int]:
    return rank(issue), -issue.score, issue.file, issue.line
