"""What two reports differ in: by fingerprint, by verdict, and never fixed where nobody has looked."""

import json
import random
import re

import pytest
from markdown_it import MarkdownIt

from jarvis_workers.sec.report.comparability import Looked, absence_reasons
from jarvis_workers.sec.report.diff import compare
from jarvis_workers.sec.report.diff_formats import DIFFERENCE_FORMS, Sides
from jarvis_workers.sec.report_document import IssueSuppression
from tests.sec.verdicts import COPY, NO_RISK, OPEN_END, RISK, hostile, judged_body, like

PLAIN = {"status": "heuristic"}
GETS = like(COPY, evidence="gets(d);", line=7, confidence=0.7)
RUNS = (
    {"id": "a1", "kind": "sec.fast", "state": "done", "created_at": "2026-03-04T05:06:07.890+00:00"},
    {"id": "b2", "kind": "sec.agent", "state": "incomplete", "created_at": "2026-03-05T05:06:07.890+00:00"},
)


def seen(_):
    return None


def differ(before, after, absence_reasons=seen):
    return compare(judged_body(*before), judged_body(*after), absence_reasons)


def counts(before, after, absence_reasons=seen):
    return {name: number for name, number in differ(before, after, absence_reasons).counts.items() if number}


def suppressed(body):
    """The same body with its first issue suppressed."""
    first, *rest = body.issues
    return body._replace(issues=rest, suppressed=[first._replace(suppression=IssueSuppression("inSource", "checked"))])


def forms(found, notes=()):
    return {name: "".join(write(Sides(*RUNS, found, notes))) for name, write in DIFFERENCE_FORMS.items()}


def test_findings_are_known_again_when_their_line_has_moved():
    assert counts([(COPY, PLAIN)], [(like(COPY, line=99), PLAIN)]) == {"unchanged": 1}


def test_what_is_added_is_new_and_what_is_gone_is_fixed():
    assert counts([(COPY, PLAIN)], [(GETS, PLAIN)]) == {"new": 1, "fixed": 1}


def test_of_three_equal_lines_where_there_were_two_one_is_new():
    twice, thrice = [(COPY, PLAIN)] * 2, [(COPY, PLAIN)] * 3

    assert counts(twice, thrice) == {"new": 1, "unchanged": 2}
    assert counts(thrice, twice) == {"fixed": 1, "unchanged": 2}


def test_what_was_not_looked_at_is_not_fixed():
    def reason(one):
        return "too large" if "gets" in one.candidate.evidence else None

    found = differ([(COPY, PLAIN), (GETS, PLAIN)], [], reason)

    assert [(one.issue.candidate.line, one.reason) for one in found.not_checked] == [(7, "too large")]
    assert [issue.candidate.line for issue in found.fixed] == [40]


@pytest.mark.parametrize(
    ("was", "now", "counted"),
    [
        (PLAIN, RISK, {"changed": 1}),
        (RISK, NO_RISK, {"changed": 1}),
        (NO_RISK, RISK, {"changed": 1}),
        (OPEN_END, RISK, {"changed": 1}),
        (NO_RISK, NO_RISK, {}),
        (RISK, RISK, {"unchanged": 1}),
    ],
)
def test_a_verdict_that_is_another_is_told(was, now, counted):
    assert counts([(COPY, was)], [(COPY, now)]) == counted


def test_of_twins_those_with_the_same_verdict_belong_together():
    found = differ([(COPY, RISK), (COPY, NO_RISK)], [(COPY, NO_RISK), (COPY, OPEN_END)])

    assert [(one.was, one.now) for one in found.changed] == [("confirmed", "undecided")]
    assert found.counts["unchanged"] == 0


def test_what_is_set_aside_at_once_or_is_gone_after_it_was_is_not_spoken_of():
    assert counts([], [(COPY, NO_RISK)]) == {}
    assert counts([(COPY, NO_RISK)], []) == {}
    assert compare(judged_body(), suppressed(judged_body((COPY, PLAIN))), seen).counts["new"] == 0


def test_a_finding_that_is_suppressed_now_has_changed_and_is_not_fixed():
    found = compare(judged_body((COPY, PLAIN)), suppressed(judged_body((COPY, PLAIN))), seen)

    assert [(one.was, one.now) for one in found.changed] == [("heuristic", "suppressed")]
    assert found.counts["fixed"] == 0


def test_a_level_is_reached_by_what_is_new_or_back_and_by_nothing_else():
    assert differ([], [(COPY, PLAIN)]).added("high")
    assert not differ([], [(GETS, PLAIN)]).added("high")
    assert differ([(COPY, NO_RISK)], [(COPY, RISK)]).added("high")
    assert not differ([(COPY, RISK)], [(COPY, NO_RISK)]).added("low")
    assert not differ([(COPY, PLAIN)], [(COPY, RISK)]).added("low")
    assert not differ([(COPY, PLAIN)], []).added("low")


def test_a_run_compared_with_itself_differs_in_nothing_whatever_the_order():
    decided = [(like(COPY, line=line, evidence=f"gets(d{line % 9});"), RISK) for line in range(1, 60)]
    shuffled = random.Random(3).sample(decided, len(decided))

    assert counts(decided, shuffled) == {"unchanged": 59}


def test_each_format_tells_all_of_it_the_worst_first():
    before = [(COPY, PLAIN), (like(COPY, file="b.c"), RISK), (like(COPY, file="gone.c"), PLAIN)]
    after = [(GETS, PLAIN), (like(COPY, file="new.c"), RISK), (like(COPY, file="b.c"), NO_RISK)]
    found = differ(before, after, lambda one: "too large" if one.candidate.file == "gone.c" else None)
    said = forms(found, ["the later run is incomplete"])

    assert said["text"] == (
        "a1 (sec.fast, done, 2026-03-04 05:06:07 UTC) -> b2 (sec.agent, incomplete, 2026-03-05 05:06:07 UTC)\n"
        "2 new, 1 with a different verdict, 1 fixed, 1 not checked, 0 unchanged\n"
        "note: the later run is incomplete\n"
        "\nNEW\n"
        "  high    new.c:40  unsafe_api  strcpy(d, s);  (confirmed)\n"
        "  medium  src/list.c:7  unsafe_api  gets(d);\n"
        "\nVERDICT CHANGED\n"
        "  high    b.c:40  unsafe_api  strcpy(d, s);  (confirmed -> dismissed)\n"
        "\nFIXED\n"
        "  high    src/list.c:40  unsafe_api  strcpy(d, s);\n"
        "\nNOT CHECKED IN THE LATER RUN\n"
        "  high    gone.c:40  unsafe_api  strcpy(d, s);  (too large)\n"
    )
    told = json.loads(said["json"])
    assert told["summary"] == {"new": 2, "changed": 1, "fixed": 1, "not_checked": 1, "unchanged": 0}
    assert [(one["file"], one["was"], one["is"]) for one in told["changed"]] == [("b.c", "confirmed", "dismissed")]
    assert [one["reason"] for one in told["not_checked"]] == ["too large"]
    assert (told["before"]["id"], told["after"]["id"]) == ("a1", "b2")
    assert re.findall(r"^## (.*)$", said["markdown"], re.MULTILINE) == [
        "New",
        "Verdict changed",
        "Fixed",
        "Not checked in the later run",
    ]


def looked(state="done", min_confidence=0.4, off=(), scanned=()):
    return Looked(state, min_confidence, off, lambda files: files & set(scanned))


@pytest.mark.parametrize(
    ("facts", "about", "reason"),
    [
        ({}, looked(), None),
        ({"left_out": {"not a source file": 3}}, looked(), None),
        ({"left_out": {"excluded": 4}}, looked(), "may be omitted: excluded"),
        ({"left_out": {"excluded": 4}}, looked(scanned=["src/list.c"]), None),
        ({"not_checked": [("src/list.c", "too large")]}, looked(scanned=["src/list.c"]), "too large"),
        ({"not_checked": [("src/other.c", "too large")]}, looked(), None),
        ({"excluded": [("src", "excluded directory")]}, looked(), "excluded directory"),
        ({"excluded": [("sr", "excluded directory")]}, looked(), None),
        ({}, looked(state="paused"), "the run is paused"),
        ({}, looked(off=["unsafe_api"]), "its rule is disabled"),
        ({}, looked(min_confidence=0.9), "below --min-confidence"),
    ],
)
def test_a_finding_is_gone_only_where_the_run_has_looked_for_it(facts, about, reason):
    before = judged_body((COPY, PLAIN), left_out={"not a source file": 3, "excluded": 3})

    assert absence_reasons(before, judged_body(**facts), about)(before.issues[0]) == reason


def test_beyond_what_a_report_lists_nothing_is_known():
    before = judged_body((COPY, PLAIN), (GETS, PLAIN))
    after = judged_body((like(COPY, file="b.c", confidence=0.8), PLAIN))
    after = after._replace(summary=after.summary._replace(not_listed=7))
    told = absence_reasons(before, after, looked())

    assert told(before.issues[0]) is None
    assert told(before.issues[1]) == "not among the highest-scoring findings that are listed"


def test_what_may_be_among_dismissed_findings_that_are_not_listed_is_not_fixed():
    before, after = judged_body((COPY, PLAIN)), judged_body()
    after = after._replace(summary=after.summary._replace(dismissed_not_listed=1))
    found = compare(before, after, absence_reasons(before, after, looked()))

    assert found.fixed == []
    assert [one.reason for one in found.not_checked] == ["may be dismissed: not all dismissed findings are listed"]


def test_no_difference_is_said_in_every_format():
    said = forms(differ([], []))

    assert json.loads(said["json"])["new"] == []
    assert all("0 new" in said[form] for form in ("text", "markdown"))


@pytest.mark.parametrize("text", ["\x1b[2J\u202e\n# x", "`|<b>[a](http://evil)", "a\nnote: clean"])
def test_hostile_words_change_nothing_around_them(text):
    mild, said = (forms(differ([], hostile(one)), [one]) for one in ("mild", text))

    assert all(len(said[form].splitlines()) == len(mild[form].splitlines()) for form in said)
    assert not {"\x1b", "\u202e"} & set("".join(said.values()))
    shapes = [[block.type for block in MarkdownIt("commonmark").parse(one["markdown"])] for one in (mild, said)]
    assert shapes[0] == shapes[1]
    assert json.loads(said["json"])["new"][0]["file"] == text
