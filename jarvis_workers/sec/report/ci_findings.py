"""Elements shared by the formats for CI services: paths from the top of the repository, order, and titles."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jarvis_workers.paths import from_shown
from jarvis_workers.sec.report.body import WORST_FIRST
from jarvis_workers.sec.report.fired_rules import RuleText, rules_of
from jarvis_workers.sec.report.rebase import below
from jarvis_workers.sec.report.verdicts import WORDS, exposure_rank, missed_canary, rank
from jarvis_workers.sec.report_document import Issue, ReportBody, ReportGap, Summary


def from_repository(body: ReportBody, run: Mapping[str, Any]) -> ReportBody:
    """Return the body with paths from the top of the repository, regardless of the directory that was scanned."""
    return below(run.get("path_prefix", ""), body)


def path_of(file: str) -> str:
    """Return the path for a displayed path; bytes that are not UTF-8 stay escaped."""
    return from_shown(file).decode("utf-8", "backslashreplace")


def rules_by_name(issues: Iterable[Issue]) -> dict[str, RuleText]:
    """Return the rules of the findings."""
    return {one.pattern: one for one in rules_of(issues)}


def worst_first(issues: Iterable[Issue]) -> list[Issue]:
    """Sort by severity, then by confirmation (confirmed first), exposure and score; the sort is stable."""

    def order(issue: Issue) -> tuple[float, ...]:
        return WORST_FIRST.index(issue.severity), rank(issue), exposure_rank(issue), -issue.score

    return sorted(issues, key=order)


def headline(issue: Issue, title: str) -> str:
    """Return the title of the rule, with the verdict if a model was asked."""
    return title if issue.status == "heuristic" else f"{WORDS.get(issue.status, issue.status).capitalize()}: {title}"


def gaps_of(summary: Summary) -> Sequence[ReportGap]:
    """Return the gaps of a report; a missed canary is one, because it makes the verdicts worthless."""
    missed = [ReportGap("the known bug", f"{what} {means}") for what, means in missed_canary(summary)]
    return [*missed, *summary.not_checked]
