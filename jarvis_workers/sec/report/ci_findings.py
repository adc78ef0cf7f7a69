"""Elements shared by the formats for CI services: paths from the top of the repository, headlines and texts."""

from collections.abc import Mapping, Sequence
from typing import Any

from jarvis_workers.paths import from_shown, listing
from jarvis_workers.sec.report.fired_rules import finding_title
from jarvis_workers.sec.report.rebase import below
from jarvis_workers.sec.report.sarif_results import message_text
from jarvis_workers.sec.report.verdicts import WORDS, missed_canary, witness_texts
from jarvis_workers.sec.report_document import Issue, ReportBody, ReportGap, Summary

WITNESSES_MAX = 10


def from_repository(body: ReportBody, run: Mapping[str, Any]) -> ReportBody:
    """Return the body with paths from the top of the repository, regardless of the directory that was scanned."""
    return below(run.get("path_prefix", ""), body)


def path_of(file: str) -> str:
    """Return the path for a displayed path; bytes that are not UTF-8 stay escaped."""
    return from_shown(file).decode("utf-8", "backslashreplace")


def headline(issue: Issue) -> str:
    """Return the title of a finding, with the verdict if a model was asked."""
    title = finding_title(issue)
    return title if issue.status == "heuristic" else f"{WORDS.get(issue.status, issue.status).capitalize()}: {title}"


def explanation(issue: Issue) -> str:
    """Return the text that a service shows first, and what other analyzers say of the finding."""
    return " ".join(filter(None, [message_text(issue), also_reported(issue)]))


def also_reported(issue: Issue) -> str:
    """Return a sentence with what other analyzers say of a finding, "" if none reported it."""
    return f"Also reported: {listing(witness_texts(issue), WITNESSES_MAX)}." if issue.witnesses else ""


def gaps_of(summary: Summary) -> Sequence[ReportGap]:
    """Return the gaps of a report; a missed canary is one, because it makes the verdicts worthless."""
    missed = [ReportGap("the known bug", f"{what} {means}") for what, means in missed_canary(summary)]
    return [*missed, *summary.not_checked]
