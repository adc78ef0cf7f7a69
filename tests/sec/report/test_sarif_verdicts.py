"""SARIF with verdicts: what is confirmed fails, what is open is for review, what is dismissed is suppressed."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft4Validator

from jarvis_workers.sec.report.sarif import render_sarif
from tests.sec.verdicts import COPY, EVERY, NO_RISK, OPEN_END, RISK, RUN, hostile, judged_body, like

SCHEMA = Path(__file__).parents[2] / "data" / "sarif-schema-2.1.0.json"
VALIDATOR = Draft4Validator(json.loads(SCHEMA.read_text()))


def sarif(body, **limits):
    """Return the one run of a log that the schema accepts."""
    log = json.loads("".join(render_sarif(body, RUN, **limits)))
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []
    return log["runs"][0]


def results(*decided, **limits):
    return sarif(judged_body(*decided), **limits)["results"]


@pytest.mark.parametrize(
    ("status", "confidence", "kind", "level"),
    [
        ("confirmed", 0.85, None, "error"),
        ("confirmed", 0.7, None, "warning"),
        ("confirmed", 0.5, None, "warning"),
        ("review", 0.85, "review", "none"),
        ("undecided", 0.5, "review", "none"),
        ("heuristic", 0.5, None, "note"),
        ("dismissed", 0.85, None, "error"),
    ],
)
def test_each_verdict_has_its_kind_and_level(status, confidence, kind, level):
    (result,) = results((like(COPY, confidence=confidence), {"status": status}))

    assert (result.get("kind"), result["level"]) == (kind, level)
    assert ("suppressions" in result) == (status == "dismissed")
    assert result["properties"]["status"] == status


def test_a_confirmed_finding_says_what_happens_and_where_that_can_be_seen():
    (result,) = results((COPY, RISK))

    assert result["message"]["text"] == (
        "Confirmed: The stack is overwritten. main reads it. list_add copies it. Use strlcpy with sizeof d."
    )
    assert [place["physicalLocation"]["region"] for place in result["relatedLocations"]] == [
        {"startLine": 38, "endLine": 38, "snippet": {"text": "char d[8];"}},
        {"startLine": 9, "endLine": 10, "snippet": {"text": "read(fd, s, 4096);\nlist_add(s);"}},
    ]
    assert [place["physicalLocation"]["artifactLocation"]["uri"] for place in result["relatedLocations"]] == [
        "src/list.c",
        "src/main.c",
    ]
    told = result["properties"]
    assert {name: told[name] for name in ("has_risk", "preconditions", "cluster", "commands")} == {
        name: (RISK | {"cluster": 1})[name] for name in ("has_risk", "preconditions", "cluster", "commands")
    }


def test_what_is_open_says_so_before_all_else():
    review, undecided = results((COPY, {**RISK, "status": "review", "reason": "votes differ"}), (COPY, OPEN_END))

    assert review["message"]["text"].startswith("To review: votes differ. Copies without a bound.")
    assert undecided["message"]["text"].startswith("Undecided: unavailable: no answer from the model for 600 s. Copies")


def test_a_dismissed_finding_is_suppressed_by_a_verdict_with_its_words():
    with_words, without = (
        one["suppressions"] for one in results((COPY, NO_RISK), (like(COPY, line=41), {"status": "dismissed"}))
    )

    said = {"kind": "external", "status": "accepted"}
    assert with_words == [said | {"justification": "None: the length is checked."}]
    assert without == [said | {"justification": without[0]["justification"]}]
    assert without[0]["justification"]


def test_a_finding_stays_who_it_is_when_its_twins_are_dismissed():
    def prints(*statuses):
        twins = ((like(COPY, line=line), {"status": status}) for line, status in enumerate(statuses, start=40))
        return {
            one["locations"][0]["physicalLocation"]["region"]["startLine"]: one["partialFingerprints"]["jarvis/v1"]
            for one in results(*twins)
        }

    assert prints("confirmed", "dismissed", "undecided") == prints("dismissed", "confirmed", "confirmed")


def test_the_steps_of_a_finding_stay():
    (flow,) = [flow for one in results(*EVERY) for flow in one.get("codeFlows", ())]

    assert len(flow["threadFlows"][0]["locations"]) == 2


def test_proved_and_confirmed_findings_come_first_by_severity_and_exposure_with_a_rank_that_says_so():
    decided = [
        (like(COPY, line=41), {"status": "dismissed"}),
        (like(COPY, line=42), RISK | {"severity": "low", "exposure": "remote"}),
        (like(COPY, line=43), RISK | {"severity": "high", "exposure": "oom"}),
        (like(COPY, line=44), RISK | {"severity": "high", "exposure": "file"}),
        (like(COPY, line=45, confidence=0.5), RISK | {"status": "proved", "severity": "low"}),
    ]
    found = results(*decided)

    lines = [one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in found]
    assert lines == [45, 44, 42, 43, 41]
    assert [one["rank"] > 80 for one in found] == [True, False, False, False, False]
    assert [one["rank"] > 60 for one in found] == [True, True, True, True, False]


def test_dismissed_findings_give_way_to_the_others_and_are_counted():
    run = sarif(judged_body((COPY, NO_RISK), (like(COPY, line=50, confidence=0.5), OPEN_END)), most=1)

    assert [one["properties"]["status"] for one in run["results"]] == ["undecided"]
    assert [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]] == [
        "Not listed: 1 dismissed findings; only those with the highest scores are listed."
    ]


@pytest.mark.parametrize("text", ["a\x1b[31m\u202e\n</script>{0}", "[x](http://evil.invalid)", "x" * 20_000, ""])
def test_hostile_words_are_shown_and_not_obeyed(text):
    found = results(*hostile(text))

    assert len(found) == 4
    assert all(not {"\x1b", "\u202e", "\n"} & set(one["message"]["text"]) for one in found)
    assert not any(re.search(r"(?<!\\)\]\((?!\d+\))", one["message"]["text"]) for one in found)
    assert all(len(one["message"]["text"]) < 50_000 for one in found)
    assert not {"\x1b", "\u202e"} & set("".join(render_sarif(judged_body(*hostile(text)), RUN)))
