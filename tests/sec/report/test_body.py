"""What a report holds: totals, order, names, and all that was not looked at."""

import pytest

from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report import build, every_issue, gather
from jarvis_workers.sec.report.body import ISSUES_MAX
from jarvis_workers.sec.report.verdicts import analyzers_texts, witness_texts
from jarvis_workers.sec.report_document import ReportBody, Summary, Witness
from jarvis_workers.sec.report_json import body_from_json, body_to_json
from jarvis_workers.words import ENGLISH

COPY = Candidate(
    language="c/cpp",
    category="unsafe_api",
    pattern="unsafe_api",
    file="src/list.c",
    line=40,
    evidence="strcpy(d, s);",
    description="copies without a bound",
    suggestion="pass the size",
    confidence=0.85,
    cwe=676,
)
UNWRAP = COPY._replace(language="rust", category="error_handling", pattern="unwrap_expect", file="a.rs", cwe=703)


def weaker(confidence, **changes):
    return COPY._replace(confidence=confidence, **changes)


def report(*candidates, min_confidence=0.4, most=ISSUES_MAX, **rest):
    return body_to_json(build(gather(enumerate(candidates, start=1), min_confidence, most), scanned_files=3, **rest))


def test_an_issue_says_everything_about_its_candidate():
    (issue,) = report(COPY)["issues"]

    assert issue == {
        "id": "C3795a7",
        "gid": 1,
        "language": "c/cpp",
        "category": "unsafe_api",
        "pattern": "unsafe_api",
        "file": "src/list.c",
        "line": 40,
        "evidence": "strcpy(d, s);",
        "description": "copies without a bound",
        "suggestion": "pass the size",
        "confidence": 0.85,
        "severity": "high",
        "score": 2.55,
        "status": "heuristic",
        "cwe": 676,
        "fingerprint": COPY.fingerprint,
        "root_cause": "D94a5f6a51b",
    }


def test_only_the_highest_scores_are_listed_in_their_usual_order_and_all_are_counted():
    many = [weaker(0.5, line=1), weaker(0.7, line=2), weaker(0.9, line=3), weaker(0.7, line=4), weaker(0.1, line=5)]

    body = report(*many, most=2)

    assert [issue["line"] for issue in body["issues"]] == [2, 3]
    assert (body["summary"]["total"], body["summary"]["not_listed"]) == (4, 2)
    assert body["summary"]["by_severity"] == {"high": 1, "medium": 2, "low": 1}
    assert body["summary"]["below_min_confidence"] == 1
    assert "not_listed" not in report(*many, most=4)["summary"]


@pytest.mark.slow
def test_nobody_is_listed_beyond_a_bound():
    body = report(*(weaker(0.5, line=line) for line in range(ISSUES_MAX + 3)))

    assert (len(body["issues"]), body["summary"]["not_listed"]) == (25_000, 3)


@pytest.mark.slow
def test_every_issue_has_the_name_and_the_words_it_has_in_a_report():
    twins = colliding_lines()
    found = list(enumerate([weaker(0.1), *(weaker(0.5, line=line) for line in twins), UNWRAP], start=1))

    assert list(every_issue(lambda: found, 0.4)) == gather(found).issues


def test_the_totals_are_of_what_is_listed():
    summary = report(COPY, UNWRAP, weaker(0.7, category="zoo"), weaker(0.5, category="ant"))["summary"]

    assert summary["total"] == 4
    assert summary["by_language"] == {"c/cpp": 3, "rust": 1}
    assert summary["by_severity"] == {"high": 2, "medium": 1, "low": 1}
    assert summary["score_sum"] == 2.55 + 2.55 + 1.4 + 0.5


def test_categories_stand_in_their_order_and_others_after_by_name():
    others = [weaker(0.5, category=name) for name in ("zoo", "ant", "crypto", "memory_mgmt")]

    assert list(report(*others)["summary"]["by_category"]) == ["memory_mgmt", "crypto", "ant", "zoo"]


def test_ten_files_are_named_by_summed_score_then_by_name():
    files = [weaker(0.5, file=f"{number:02}.c") for number in range(12)]
    worst = [weaker(0.4, file="11.c"), weaker(0.4, file="11.c", line=41)]

    assert report(*files, *worst)["summary"]["top_risk_files"] == ["11.c", *(f"{number:02}.c" for number in range(9))]


def test_issues_keep_the_order_and_numbers_they_came_with():
    issues = body_to_json(build(gather([(7, UNWRAP), (2, COPY)]), scanned_files=2))["issues"]

    assert [(issue["gid"], issue["id"][0]) for issue in issues] == [(7, "R"), (2, "C")]


def test_what_is_below_the_least_confidence_is_counted_and_not_listed():
    body = report(COPY, weaker(0.4), weaker(0.39))

    assert [issue["gid"] for issue in body["issues"]] == [1, 2]
    assert body["summary"]["below_min_confidence"] == 1
    assert report(COPY, weaker(0.5), min_confidence=0.8)["summary"]["total"] == 1


def test_what_was_not_looked_at_is_named_in_order_and_once():
    summary = report(
        not_checked=[("b.c", "too large"), ("a.c", "no permission"), ("b.c", "too large")],
        left_out={"not a source file": 9, "ignored": 2},
        excluded=[("vendor", "excluded directory"), ("build", "excluded directory")],
    )["summary"]

    assert [gap["file"] for gap in summary["not_checked"]] == ["a.c", "b.c"]
    assert list(summary["left_out"].items()) == [("ignored", 2), ("not a source file", 9)]
    assert [tree["path"] for tree in summary["excluded"]] == ["build", "vendor"]


@pytest.mark.slow
def test_names_that_would_collide_grow_and_no_others():
    twins = colliding_lines()
    issues = report(COPY, *(weaker(0.5, line=line) for line in twins))["issues"]

    assert [len(issue["id"]) for issue in issues] == [7, 8, 8]
    assert issues[1]["id"][:7] == issues[2]["id"][:7]
    assert issues[1]["id"] != issues[2]["id"]


def colliding_lines():
    """Two lines of src/list.c whose names begin with the same six digits."""
    seen = {}
    for line in range(41, 100_000):
        (issue,) = build(gather([(1, weaker(0.5, line=line))]), scanned_files=1).issues
        if issue.id in seen:
            return seen[issue.id], line
        seen[issue.id] = line
    raise AssertionError("no two lines collide")


def test_findings_in_test_code_are_marked():
    program, test = report(COPY, COPY._replace(file="tests/list.c"))["issues"]

    assert "test_code" not in program
    assert test["test_code"] is True


def test_findings_are_counted_by_analyzer_alone_and_together():
    theirs = COPY._replace(pattern="gcc:stringop-overflow", line=50)
    said = Witness("cppcheck:bufferAccessOutOfBounds", 41, "cppcheck (error): too far")
    witnesses = {1: (said, said), 3: (said,)}
    found = gather(enumerate((COPY, UNWRAP, theirs), start=1), witnesses=witnesses)
    summary = build(found, scanned_files=1).summary

    assert summary.by_analyzer == {"cppcheck": 2, "gcc": 1, "jarvis": 2}
    assert summary.by_analyzer_alone == {"jarvis": 1}
    (text,) = analyzers_texts(summary, ENGLISH)
    assert text == "Reported by: cppcheck 2 (0 alone), gcc 1 (0 alone), jarvis 2 (1 alone)."
    alone = build(gather([(1, COPY)]), scanned_files=1).summary
    assert (alone.by_analyzer, analyzers_texts(alone, ENGLISH)) == ({}, [])


def test_a_finding_has_its_own_rule_and_those_of_its_witnesses():
    (issue,) = gather([(1, COPY)]).issues
    said = (Witness("gcc:restrict", 40, "gcc (warning): too long"), Witness("gcc:restrict", 42, "gcc (warning): again"))
    merged = body_from_json(body_to_json(ReportBody(Summary(), [issue._replace(witnesses=said)]))).issues[0]

    assert merged.witnesses == said
    assert merged.rules == {"unsafe_api", "gcc:restrict"}
    assert merged.analyzers == ("gcc", "jarvis")
    assert witness_texts(merged, ENGLISH) == ["gcc (warning): too long", "line 42: gcc (warning): again"]
