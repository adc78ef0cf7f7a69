"""The judged findings have a verdict and a reason of each reader, and reports are compared with them."""

from jarvis_workers.sec.rules import RULES_BY_PATTERN
from tests.bench.judged import VERDICTS, Judged, changes, judged, reported, table

ROW = Judged("redis 7.0.15", "src/a.c", 3, "unsafe_api", 0.8, ("true", "plausible"), ("long", "maybe"))
ROWS = [ROW, ROW._replace(line=4, verdicts=("true", "true")), ROW._replace(line=5, verdicts=("false", "false"))]


def test_judged_findings_have_two_verdicts_with_reasons_and_known_rules() -> None:
    rows = judged()

    assert len(rows) >= 300
    assert {verdict for row in rows for verdict in row.verdicts} == set(VERDICTS)
    assert all(len(row.verdicts) == len(row.reasons) == 2 and all(row.reasons) for row in rows)
    assert {row.rule for row in rows} <= RULES_BY_PATTERN.keys()
    assert all(0.4 <= row.confidence <= 0.95 for row in rows)


def test_judged_findings_name_each_place_once() -> None:
    places = [row.place for row in judged()]

    assert len(places) == len(set(places))


def test_judged_findings_name_projects_by_version_and_no_local_paths() -> None:
    for row in judged():
        assert len(row.project.split()) == 2
        assert not row.file.startswith("/")
        directory = f"/{row.project.replace(' ', '-')}/"
        assert not any(directory in reason for reason in row.reasons)


def test_the_lower_of_two_verdicts_counts() -> None:
    assert [row.verdict for row in ROWS] == ["plausible", "true", "false"]


def test_reports_name_their_project_by_a_directory_and_leave_out_tests() -> None:
    issue = {"file": "a.c", "line": 3, "pattern": "unsafe_api", "confidence": 0.6}
    report = {"run": {"scanned_root": "/x/redis-7.0.15/src"}, "issues": [issue, issue | {"line": 4, "test_code": True}]}

    assert reported([report], ["git 1a2b", "redis 7.0.15"]) == {ROW.place: 0.6}


def test_a_directory_with_the_version_is_the_project() -> None:
    issue = {"file": "a.c", "line": 3, "pattern": "unsafe_api", "confidence": 0.6}
    report = {"run": {"scanned_root": "/x/redis-7.0.15/redis"}, "issues": [issue]}

    assert reported([report], ["redis 7.0.15"]) == {("redis 7.0.15", "redis/a.c", 3, "unsafe_api"): 0.6}


def test_findings_are_counted_by_band_and_lost_true_ones_are_named() -> None:
    confidences = {ROWS[0].place: 0.75, ROWS[2].place: 0.79}

    assert table(ROWS, confidences)[2:] == ["| 0.7–0.8 | 2 | 0% | 50% |"]
    assert changes(ROWS, confidences) == [
        "false: 0 gone, 1 kept",
        "plausible: 0 gone, 1 kept",
        "true: 1 gone, 0 kept",
        "gone: redis 7.0.15 src/a.c:4 unsafe_api: long",
    ]
