"""SARIF with findings of other analyzers: a run of each, in which services know their alerts again."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from jarvis_workers.sec.alerts.alert import Alert
from jarvis_workers.sec.alerts.candidate_text import description_of, pattern_of
from jarvis_workers.sec.alerts.report_forms import read_alerts
from jarvis_workers.sec.report import build, gather
from jarvis_workers.sec.report.sarif import render_sarif
from jarvis_workers.sec.report_document import ReportBody, ReportedAlert, Witness
from jarvis_workers.sec.triage_states import TriageState, TriageVerdict
from tests.sec.verdicts import COPY, NO_RISK, RISK, RUN, judged_body

SCHEMA = Path(__file__).parents[2] / "data" / "sarif-schema-2.1.0.json"
VALIDATOR = Draft4Validator(json.loads(SCHEMA.read_text()))
PLACE = {
    "artifactLocation": {"uri": "src/list.c", "uriBaseId": "%SRCROOT%", "index": 0},
    "region": {"startLine": 38, "startColumn": 3, "endColumn": 9},
}
RESULT: dict[str, Any] = {
    "ruleId": "cpp/overflow-buffer",
    "message": {"text": "This may overflow."},
    "level": "error",
    "locations": [{"physicalLocation": PLACE}],
    "partialFingerprints": {
        "primaryLocationLineHash": "39fa2ee980eb94b0:1",
        "primaryLocationStartColumnFingerprint": "4",
    },
    "fingerprints": {"stable/v2": "7f3"},
}
OTHER = RESULT | {"ruleId": "cpp/other", "partialFingerprints": {"primaryLocationLineHash": "aa:1"}}


def report(*results: dict[str, Any], name: str = "CodeQL") -> dict[str, Any]:
    return {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": name, "rules": []}}, "results": list(results)}]}


def alerts(*results: dict[str, Any], name: str = "CodeQL") -> tuple[Alert, ...]:
    return read_alerts(json.dumps(report(*results, name=name)).encode()).alerts


def candidate(alert: Alert, line: int = 40):
    text = {"pattern": pattern_of(alert), "description": description_of(alert), "category": "other_analyzer"}
    return COPY._replace(**text, line=line, cwe=alert.cwe)


def judged(*decided: tuple[Alert, dict[str, Any]]) -> ReportBody:
    """Return the body of a run in which a model has decided on alerts, on a line each."""
    body = judged_body(*((candidate(alert, line), verdict) for line, (alert, verdict) in enumerate(decided, 40)))
    gids = {issue.candidate.pattern: issue.gid for issue in body.findings}
    placed = [
        ReportedAlert(alert, "src/list.c", line, gids[pattern_of(alert)]) for line, (alert, _) in enumerate(decided, 40)
    ]
    return body._replace(alerts=placed)


def runs(body: ReportBody, **limits: int) -> dict[str, dict[str, Any]]:
    """Return the runs of a log that the schema accepts, by tool."""
    log = json.loads("".join(render_sarif(body, RUN, **limits)))
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []
    found = {run["tool"]["driver"]["name"]: run for run in log["runs"]}
    assert len(found) == len(log["runs"])
    return found


def states(log: dict[str, Any]) -> dict[tuple[str, str], bool]:
    """Return whether each result is suppressed, by tool and what advanced-security/dismiss-alerts knows an alert by."""
    found = {}
    for run in log["runs"]:
        for one in run["results"]:
            place = one["locations"][0]["physicalLocation"]
            region = place.get("region", {})
            numbers = [str(region.get(name) or 0) for name in ("startLine", "startColumn")]
            key = ";".join([one["ruleId"], place["artifactLocation"]["uri"], *numbers])
            found[run["tool"]["driver"]["name"], key] = bool(one.get("suppressions"))
    return found


def test_a_finding_of_another_analyzer_is_in_a_run_of_that_with_its_rule_level_and_place() -> None:
    (alert,) = alerts(RESULT)
    both = runs(judged((alert, {"status": "heuristic"})))
    (one,) = both["CodeQL"]["results"]

    assert both["Jarvis"]["results"] == []
    assert [rule["id"] for rule in both["CodeQL"]["tool"]["driver"]["rules"]] == ["cpp/overflow-buffer"]
    assert {name: one[name] for name in ("ruleId", "level", "message")} == {
        name: RESULT[name] for name in ("ruleId", "level", "message")
    }
    (place,) = one["locations"]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "src/list.c", "uriBaseId": "%SRCROOT%"}
    assert place["physicalLocation"]["region"] == PLACE["region"]
    assert (one["properties"]["pattern"], one["properties"]["line"]) == ("codeql:cpp/overflow-buffer", 40)


def test_an_alert_keeps_its_fingerprints() -> None:
    (alert,) = alerts(RESULT)
    (one,) = runs(judged((alert, {"status": "heuristic"})))["CodeQL"]["results"]

    assert one["fingerprints"] == RESULT["fingerprints"]
    assert one["partialFingerprints"].items() >= RESULT["partialFingerprints"].items()


def test_a_refuted_alert_is_suppressed_with_the_reason_and_known_again_by_the_rules_of_services() -> None:
    false, true = alerts(RESULT, OTHER)
    body = judged((false, NO_RISK), (true, RISK))
    log = json.loads("".join(render_sarif(body, RUN)))
    found = runs(body)["CodeQL"]["results"]

    before = states(report(RESULT, OTHER))
    assert list(before.values()) == [False, False]
    assert {key: state for key, state in states(log).items() if state} == {
        ("CodeQL", "cpp/overflow-buffer;src/list.c;38;3"): True
    }
    assert before.keys() <= states(log).keys()
    assert [one["suppressions"] for one in found] == [
        [{"kind": "external", "status": "accepted", "justification": "None: the length is checked."}],
        [],
    ]


def test_what_a_person_has_judged_is_suppressed_and_what_is_confirmed_says_so() -> None:
    false, true = alerts(RESULT, OTHER)
    numbered = list(enumerate([candidate(false), candidate(true, 41)], 1))
    verdicts = {numbered[0][1].fingerprint: TriageVerdict(TriageState.FALSE, "checked above")}
    body = build(gather(numbered, judged=verdicts), scanned_files=1)
    body = body._replace(alerts=[ReportedAlert(false, "src/list.c", 40, 1), ReportedAlert(true, "src/list.c", 41, 2)])
    (one, other) = runs(body)["CodeQL"]["results"]
    assert one["suppressions"] == [{"kind": "external", "justification": "checked above", "status": "accepted"}]
    assert other["suppressions"] == []

    (confirmed,) = runs(judged((true, RISK)))["CodeQL"]["results"]
    assert confirmed["message"]["text"].startswith("This may overflow. Confirmed: The stack is overwritten.")
    assert confirmed["level"] == "error"


SAID = Witness("codeql:cpp/overflow", 41, "CodeQL (error): This may overflow.")


def test_a_merged_alert_is_in_the_run_of_its_tool_and_follows_the_verdict_on_the_finding() -> None:
    (alert,) = alerts(RESULT)
    body = judged_body((COPY, NO_RISK))
    body = body.map_findings(lambda issue: issue._replace(witnesses=(SAID,)))
    both = runs(body._replace(alerts=[ReportedAlert(alert, COPY.file, COPY.line, 1, is_merged=True)]))

    (ours,), (theirs,) = both["Jarvis"]["results"], both["CodeQL"]["results"]
    assert ours["properties"]["witnesses"] == [SAID._asdict()]
    assert theirs["properties"]["merged_with"] == ours["properties"]["id"]
    assert theirs["suppressions"] == ours["suppressions"] != []
    assert theirs["partialFingerprints"] == RESULT["partialFingerprints"]


def test_no_alert_is_missing_from_the_run_of_its_tool() -> None:
    unplaced, unlisted = alerts(RESULT, OTHER | {"suppressions": [{"kind": "inSource", "justification": "fine"}]})
    body = build(gather([]), scanned_files=0)._replace(
        alerts=[ReportedAlert(unplaced), ReportedAlert(unlisted, "src/list.c", 40, 7)]
    )
    one, other = runs(body)["CodeQL"]["results"]
    assert one["locations"][0]["physicalLocation"]["region"] == PLACE["region"]
    assert (one["suppressions"], other["suppressions"][0]["justification"]) == ([], "fine")


@pytest.mark.parametrize(
    ("alert", "place", "level"),
    [
        (Alert("cppcheck", "x", "t", "/b/src/list.c", 9, 2, level="style"), ("src/list.c", 40), "note"),
        (Alert("GitLab", "x", "t", "src/list.c", 9, level="critical"), ("src/list.c", 40), "error"),
        (Alert("gcc", "x", "t", "gone #1.c", 9, level="warning"), None, "warning"),
    ],
)
def test_alerts_of_other_forms_have_the_place_in_the_tree(alert: Alert, place: Any, level: str) -> None:
    body = build(gather([]), scanned_files=0)._replace(alerts=[ReportedAlert(alert, *(place or ()))])
    (one,) = runs(body)[alert.tool]["results"]
    where = one["locations"][0]["physicalLocation"]

    assert one["level"] == level
    assert where["artifactLocation"]["uri"] == (place[0] if place else "gone%20%231.c")
    assert where["region"]["startLine"] == (place[1] if place else 9)


def test_an_alert_of_no_file_has_no_location() -> None:
    body = build(gather([]), scanned_files=0)._replace(alerts=[ReportedAlert(Alert("t", "x", "", ""))])
    (one,) = runs(body)["t"]["results"]
    assert "locations" not in one
    assert one["message"]["text"] == "x"


def test_a_file_has_as_many_runs_as_services_take_and_the_findings_of_others_stay_in_that_of_jarvis() -> None:
    some = [Alert(f"tool{number}", "x", "t", "src/list.c", 40) for number in range(21)]
    some += [Alert("jarvis", "x", "t", "src/list.c", 40), *some[2:]]
    numbered = list(enumerate([candidate(one, 40 + at) for at, one in enumerate(some)], 1))
    body = build(gather(numbered), scanned_files=1)
    places = [ReportedAlert(one, "src/list.c", 40 + at, at + 1) for at, one in enumerate(some)]
    found = runs(body._replace(alerts=places))

    assert len(found) == 20
    assert {one["ruleId"] for one in found["Jarvis"]["results"]} == {"jarvis:x", "tool0:x", "tool1:x"}
    assert sum(len(run["results"]) for run in found.values()) == len(some)


def test_results_beyond_the_limits_are_counted_those_of_the_worst_findings_are_listed() -> None:
    some = [Alert("tool", f"r{number}", "t" * 500, "src/list.c", 40 + number) for number in range(9)]
    numbered = [(at, candidate(one, 39 + at)._replace(confidence=at / 10)) for at, one in enumerate(some, 1)]
    body = build(gather(numbered, 0.0), scanned_files=1)
    body = body._replace(alerts=[ReportedAlert(one, "src/list.c", 39 + at, at) for at, one in enumerate(some, 1)])

    def notes(**limits: int) -> tuple[list[str], list[str]]:
        found = runs(body, **limits)
        notes = found["Jarvis"]["invocations"][0]["toolExecutionNotifications"]
        return [one["ruleId"] for one in found["tool"]["results"]], [note["message"]["text"] for note in notes]

    rules, said = notes(most=3)
    assert rules == ["r6", "r7", "r8"]
    assert any("6 findings" in text for text in said) and any("6 results of other analyzers" in text for text in said)
    rules, said = notes(gzipped_max=700)
    assert 0 < len(rules) < 9
    assert any(f"{9 - len(rules)} findings" in text for text in said)


def test_two_renderings_are_equal() -> None:
    body = judged(*((one, NO_RISK) for one in alerts(RESULT, OTHER)))
    assert "".join(render_sarif(body, RUN)) == "".join(render_sarif(body, RUN))


def test_hostile_names_are_plain() -> None:
    result = RESULT | {"ruleId": "\x1b]0;owned\x07", "message": {"text": "{0} [x](file:///etc) \x1b[2J"}}
    (alert,) = alerts(result, name="\x1b[31mred")
    text = "".join(render_sarif(judged((alert, {"status": "heuristic"})), RUN))
    assert "\\u001b" not in text and "\x1b" not in text
