"""Exposure and severity of verdicts in reports: shown, and the worst first."""

import json
from typing import Any

import pytest

from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.report import gather
from jarvis_workers.sec.report.fired_rules import rules_of
from jarvis_workers.sec.report.html import render_html
from jarvis_workers.sec.report.markdown import render_markdown
from jarvis_workers.sec.report.sarif import render_sarif
from jarvis_workers.sec.report.verdict_index import VerdictIndex
from jarvis_workers.sec.report.verdicts import worst_first
from jarvis_workers.sec.report_document import Issue
from tests.sec.verdicts import COPY, RISK, RUN, judged_body, like

# A line for each finding: severity of its verdict, exposure, confidence of its rule; the worst first.
WORST_FIRST = (
    (30, "high", "remote", 0.6),
    (20, "high", "file", 0.9),
    (60, "high", "file", 0.7),
    (50, "medium", "self", 0.9),
    (40, "low", "remote", 0.9),
    (10, "high", "oom", 0.95),
)


def rated(line: int, severity: str, exposure: str, confidence: float) -> Issue:
    (issue,) = gather([(1, like(COPY, line=line, confidence=confidence))]).issues
    return issue.with_verdict(
        Verdict(1, "confirmed", True, exposure=exposure, severity=severity, confidence=0.9), "", None
    )


def body() -> Any:
    decided = [
        (
            like(COPY, line=line, confidence=confidence),
            RISK | {"exposure": exposure, "verdict_severity": severity, "severity": severity, "analysis": "It is so."},
        )
        for line, severity, exposure, confidence in sorted(WORST_FIRST)
    ]
    return judged_body(*decided)


def lines_in(text: str, before: str) -> list[int]:
    """Return the lines of the findings in the order in which they first occur."""
    places = {line: text.index(f"{before}{line}") for line, *_ in WORST_FIRST}
    return sorted(places, key=places.__getitem__)


def test_a_verdict_determines_severity_and_score() -> None:
    issue = rated(10, "low", "oom", 0.9)

    assert (issue.severity, issue.score, issue.opinion.exposure) == ("low", 0.9, "oom")


@pytest.mark.parametrize("status", ["review", "undecided", "dismissed"])
def test_only_confirmed_findings_have_the_severity_of_their_verdict(status: str) -> None:
    (issue,) = gather([(1, COPY)]).issues

    assert issue.with_verdict(Verdict(1, status, severity="low"), "", None).severity == "high"


def test_totals_count_the_severity_of_verdicts() -> None:
    numbered = [(gid, like(COPY, line=gid)) for gid in (1, 2, 3)]
    index = VerdictIndex({1: "confirmed", 2: "confirmed"}, {1: "low"})

    findings = gather(numbered, verdicts=index)

    assert dict(findings.severities) == {"low": 1, "high": 2}
    assert dict(findings.at_risk) == {"low": 1, "high": 1}


def test_a_finding_that_no_model_was_asked_about_is_not_undecided() -> None:
    numbered = [(gid, like(COPY, line=gid)) for gid in (1, 2, 3)]

    findings = gather(numbered, verdicts=VerdictIndex({1: "confirmed"}, candidates={1, 2}))

    assert dict(findings.statuses) == {"confirmed": 1, "undecided": 1, "heuristic": 1}


def test_the_severity_of_a_rule_is_not_that_of_a_verdict() -> None:
    unrated = gather([(1, COPY)]).issues

    assert rules_of([rated(10, "low", "oom", 0.9)]) == rules_of(unrated)


def test_confirmed_findings_are_sorted_by_severity_exposure_and_score() -> None:
    issues = [rated(*one) for one in sorted(WORST_FIRST)]

    assert [issue.line for issue in worst_first(issues)] == [line for line, *_ in WORST_FIRST]


def test_reports_show_the_worst_first_with_exposure_and_analysis() -> None:
    worst = [line for line, *_ in WORST_FIRST]
    markdown = "".join(render_markdown(body(), RUN))
    html = "".join(render_html(body(), RUN))
    findings = html[html.index('<details class="finding') :]

    assert lines_in(markdown, "in `src/list.c` line ") == worst
    assert lines_in(findings, "src/list.c:") == worst
    assert "- **Exposure:** remote (data from a network)" in markdown
    assert '<span class="exposure">remote</span>' in findings
    assert all("It is so." in text for text in (markdown, findings))


def test_sarif_has_exposure_and_rating_of_a_verdict() -> None:
    (log,) = json.loads("".join(render_sarif(body(), RUN)))["runs"]
    properties = {found["locations"][0]["physicalLocation"]["region"]["startLine"]: found for found in log["results"]}

    assert {line: found["properties"]["exposure"] for line, found in properties.items()} == {
        line: exposure for line, _, exposure, _ in WORST_FIRST
    }
    assert properties[40]["level"] == "warning"
    assert properties[10]["level"] == "error"
