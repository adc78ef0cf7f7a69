"""Compare the findings of two reports: new, fixed, and changed verdicts.

Findings are identified by fingerprint, with multiplicity.  A finding that the later run did not check never counts
as fixed, and findings set aside in both reports (dismissed, suppressed) are omitted.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from jarvis_workers.sec.report.verdicts import urgency
from jarvis_workers.sec.report_document import Issue, ReportBody
from jarvis_workers.sec.severity import is_at_least

SUPPRESSED = "suppressed"
ASIDE = ("dismissed", SUPPRESSED)


class Changed(NamedTuple):
    """A finding of both runs, in the form of the later one, with its status in each."""

    issue: Issue
    was: str
    now: str

    @property
    def is_back(self) -> bool:
        """Whether the finding was set aside in the earlier report but not in the later one."""
        return self.was in ASIDE and self.now not in ASIDE


class Missing(NamedTuple):
    """A finding that the later run has not checked, and the reason."""

    issue: Issue
    reason: str


@dataclass(slots=True)
class Difference:
    """The result of a comparison. Each list is sorted worst first; `unchanged` counts findings with equal verdicts."""

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
        """Return the new findings of at least this severity, including those no longer set aside."""
        added = [*self.new, *(one.issue for one in self.changed if one.is_back)]
        return [issue for issue in added if is_at_least(issue.severity, level)]


def compare(before: ReportBody, after: ReportBody, absence_reasons: Callable[[Issue], str | None]) -> Difference:
    """Compare two bodies; `absence_reasons` returns why the later run may not report a finding, None if it is gone."""
    difference, olds, news = Difference(), _by_fingerprint(before), _by_fingerprint(after)
    for fingerprint in dict.fromkeys([*news, *olds]):
        _pair(difference, olds.get(fingerprint, []), news.get(fingerprint, []), absence_reasons)
    difference.new.sort(key=_worst_first)
    difference.fixed.sort(key=_worst_first)
    difference.changed.sort(key=lambda one: _worst_first(one.issue))
    difference.not_checked.sort(key=lambda one: _worst_first(one.issue))
    return difference


def status_of(issue: Issue) -> str:
    """Return the status of a finding in a report."""
    return SUPPRESSED if issue.suppression else str(issue.status)


def _by_fingerprint(body: ReportBody) -> dict[str, list[Issue]]:
    result: defaultdict[str, list[Issue]] = defaultdict(list)
    for issue in (*body.issues, *body.dismissed, *body.suppressed):
        result[issue.fingerprint].append(issue)
    return result


def _pair(
    into: Difference, olds: list[Issue], news: list[Issue], absence_reasons: Callable[[Issue], str | None]
) -> None:
    """Pair findings with equal status, then with different status; those without a partner are new or gone."""
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
        if reason := absence_reasons(issue):
            into.not_checked.append(Missing(issue, reason))
        else:
            into.fixed.append(issue)


def _without(issues: Iterable[Issue], common: Mapping[str, int]) -> Iterator[Issue]:
    """Omit the first findings of each status, as many as both sides have."""
    left = dict(common)
    for issue in issues:
        status = status_of(issue)
        if left.get(status, 0):
            left[status] -= 1
        else:
            yield issue


def _worst_first(issue: Issue) -> tuple[tuple[float, ...], str, int]:
    return urgency(issue), issue.candidate.file, issue.candidate.line
