"""Group the findings of a report by root cause: formats for people list a defect once, with all of its places."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from jarvis_workers.sec.report_document import Issue, Summary
from jarvis_workers.words import ENGLISH, Words


class DefectGroup(NamedTuple):
    """A finding, and the others with the same root cause."""

    issue: Issue
    others: tuple[Issue, ...] = ()


def defect_groups(issues: Iterable[Issue], weight: Callable[[Issue], Any] | None = None) -> list[DefectGroup]:
    """Return the findings grouped by root cause, in the order of their first finding.

    The first finding of a group is the one with the least `weight`, without one that comes first; the others are in the
    order of files.  Findings of older reports, which have no root cause, are alone.
    """
    numbered = list(enumerate(issues))
    members: defaultdict[str, list[tuple[int, Issue]]] = defaultdict(list)
    for place, issue in numbered:
        members[issue.root_cause or f"#{place}"].append((place, issue))
    groups = []
    for those in members.values():
        lead, issue = min(those, key=lambda one: weight(one[1])) if weight else those[0]
        others = sorted((other for place, other in those if place != lead), key=lambda other: other.gid)
        groups.append((lead, DefectGroup(issue, tuple(others))))
    return [group for _, group in sorted(groups, key=lambda entry: entry[0])]


def count_root_causes(issues: Iterable[Issue], status: str | None = None) -> int:
    """Return the number of root causes, or only of those with a finding of a status."""
    return len({issue.root_cause for issue in issues if status in (None, issue.status)})


def root_causes_text(findings: int, root_causes: int | None, say: Words = ENGLISH) -> str:
    """Return ", N root causes" if these are fewer than the findings, else nothing."""
    if root_causes is None or root_causes >= findings:
        return ""
    causes = say.count(root_causes, "root cause")
    return say(", {root_causes}", root_causes=causes)


def total_text(summary: Summary, say: Words = ENGLISH, *, is_new: bool = False) -> str:
    """Return the number of findings, or new findings, and of their root causes if these are fewer."""
    findings = say.count(summary.total, "new finding") if is_new else say.count(summary.total, "finding")
    return findings + root_causes_text(summary.total, summary.root_causes, say)


def places_of(issues: Sequence[Issue], most: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield at most `most` files with the lines of findings in each, in order."""
    files: defaultdict[str, list[int]] = defaultdict(list)
    for issue in issues:
        files[issue.candidate.file].append(issue.candidate.line)
    for file, lines in list(files.items())[:most]:
        yield file, tuple(lines)
