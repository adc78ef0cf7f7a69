"""The body of a report goes through JSON as it was, whatever version has written it."""

import json

import pytest

from jarvis_workers.sec.assessment import REPORTED
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report import FORMATS
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.report_json import body_from_json, body_to_json
from tests.sec.verdicts import EVERY, RUN, judged_body
from tests.support.issues import FACTS

REMARK = {"file": "a.c", "line": 3, "text": "jarvis-ignore"}
BASELINE = {"known": 2, "gone": 1, "not_listed": 7, "what": "main", "later": {"than": "this"}}
SUMMARY = {
    "total": 3,
    "by_language": {"rust": 3},
    "by_category": {"crypto": 3},
    "by_severity": {"low": 3},
    "score_sum": 1.5,
    "top_risk_files": ["a.c"],
    "by_status": {"review": 3},
    "at_risk": {},
    "dismissed": 0,
    "scanned_files": 4,
    "not_checked": [{"file": "b.c", "reason": "too large"}],
    "below_min_confidence": 1,
    "suppressed": 2,
    "judged_later": 1,
    "unused_suppressions": [REMARK | {"reason": "no rule fires here"}],
    "suppressions_without_reason": [REMARK],
    "suppressions_without_reason_not_listed": 5,
    "baseline": BASELINE,
    "canary": {"status": "review", "reason": None},
    "not_listed": 6,
    "rules_fired": 9,
    "left_out": {"ignored by .gitignore": 2},
    "excluded": [{"path": "vendor", "reason": "excluded directory"}],
    "clusters": 3,
}
VERDICT = {
    "has_risk": None,
    "analysis": "s is longer.",
    "exposure": "file",
    "verdict_severity": "high",
    "verdict_confidence": 0.75,
    "preconditions": "",
    "trigger_path": "",
    "consequences": "c",
    "suggestions": "",
    "quotes": [{"file": "a.c", "line": 1, "quote": "q"}],
    "reason": None,
    "commands": [{"interpreter": "bash", "script": "ls"}],
    "verification": "Is it?",
    "cluster": None,
}


def placed(**more: object) -> dict[str, object]:
    """A finding with its column where reports have it."""
    rows = list(FACTS.items())
    return dict([*rows[:7], ("column", 5), *rows[7:]]) | more


@pytest.mark.parametrize(
    "issue",
    [
        FACTS,
        placed(),
        placed(path=[{"file": "b.c", "line": 2, "note": "n"}], judged=True),
        placed(suppression={"kind": "external", "justification": ""}, judged="wontfix"),
        placed(judged="later", **VERDICT),
        placed(**VERDICT, unheard_of=[{"by": "this version"}]),
    ],
)
def test_a_body_is_written_as_it_was_read(issue: dict[str, object]) -> None:
    row = {"summary": SUMMARY, "issues": [issue], "suppressed": [issue]}

    assert json.dumps(body_to_json(body_from_json(row))) == json.dumps(row)


def test_what_a_finding_says_has_the_names_of_its_fields() -> None:
    row = placed(path=[{"file": "b.c", "line": 2, "note": "n"}], **VERDICT)
    (issue,) = body_from_json({"summary": {}, "issues": [row]}).issues

    assert (issue.gid, issue.candidate.column, issue.path[0].note, issue.opinion.evidence[0].quote) == (1, 5, "n", "q")
    assert (issue.opinion.commands[0].script, issue.opinion.consequences, issue.cluster) == ("ls", "c", None)
    assert {name for name in row if name not in {*Issue._fields, *Candidate._fields, *REPORTED}} == set()


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_of_another_version_renders(form: str) -> None:
    older = {"total": 1, "by_category": {"unsafe_api": 1}, "by_severity": {"high": 1}, "scanned_files": 1}
    body = body_from_json({"summary": older | {"by_moon": 1}, "issues": [FACTS | {"of_the_moon": "red"}]})

    text = "".join(FORMATS[form](body_from_json(json.loads(json.dumps(body_to_json(body)))), RUN))

    assert text == "".join(FORMATS[form](body, RUN))
    assert ("unsafe_api" if form in ("gcc", "github", "github-summary") else "strcpy(d, s);") in text
    assert ("by_moon" in text and "of_the_moon" in text) == (form == "json")


@pytest.mark.parametrize("form", FORMATS)
def test_a_body_that_was_stored_renders_as_the_one_that_was_built(form: str) -> None:
    body = judged_body(*EVERY)
    stored = body_from_json(json.loads(json.dumps(body_to_json(body))))

    if form == "text":
        assert stored == body
    assert "".join(FORMATS[form](stored, RUN)) == "".join(FORMATS[form](body, RUN))
