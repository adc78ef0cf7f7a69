"""Choose, count and page the findings of a report."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.sec.report_document import Issue, ReportBody
from jarvis_workers.sec.triage.queue import sheet_of
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.web.queries import FindingQuery

CHOICES_MAX = 300


class FindingPage(NamedTuple):
    """The findings of a page, the number on all pages, and the possible filter values with their counts."""

    findings: Sequence[Issue]
    total: int
    listed: int
    choices: Mapping[str, list[tuple[str, int]]]


def choose_findings(body: ReportBody, query: FindingQuery, judged: Mapping[str, Judgement]) -> FindingPage:
    """Return the findings for a query, worst first; `judged` are the stored triage verdicts by fingerprint."""
    sheet = sheet_of(body).findings
    matches = list(_matching(sheet, query, judged))
    start = (query.page - 1) * query.size
    choices = {
        name: Counter(str(issue.value(name)) for issue in sheet).most_common(CHOICES_MAX)
        for name in ("severity", "status", "category")
    }
    for name in ("rules", "analyzers"):
        choices[name] = Counter(one for issue in sheet for one in issue.value(name)).most_common(CHOICES_MAX)
    return FindingPage(matches[start : start + query.size], len(matches), len(sheet), choices)


def pages_of(total: int, size: int) -> int:
    """Return the number of pages, at least 1."""
    return max(1, -(-total // size))


def _matching(sheet: Sequence[Issue], query: FindingQuery, judged: Mapping[str, Judgement]) -> Iterator[Issue]:
    conditions = {"severity": query.severity, "status": query.status, "category": query.category}
    limits = [(name, value) for name, value in conditions.items() if value]
    named = [(name, value) for name, value in (("rules", query.rule), ("analyzers", query.analyzer)) if value]
    path = query.path.lower()
    for issue in sheet:
        if any(issue.value(name) != value for name, value in limits):
            continue
        if any(value not in issue.value(name) for name, value in named):
            continue
        if (not path or path in issue.candidate.file.lower()) and _is_judged(issue, query.triage, judged):
            yield issue


def _is_judged(issue: Issue, triage: str | None, judged: Mapping[str, Judgement]) -> bool:
    if triage is None:
        return True
    judgement = judged.get(issue.fingerprint)
    return judgement is None if triage == "none" else judgement is not None and judgement.verdict.value == triage
