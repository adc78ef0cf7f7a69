"""The keys of a triage session: a generator that receives keys and yields what the terminal must do."""

import getpass
from collections.abc import Iterable

import pytest

from jarvis_workers.sec.commands.triage_session import (
    HELP,
    KEYS,
    AskQuestion,
    EditFinding,
    SaveVerdict,
    ShowFinding,
    Step,
    judge_findings,
)
from jarvis_workers.sec.triage_record import Judgement
from tests.support.issues import issue_of

pytestmark = pytest.mark.timing

FINDINGS = [
    issue_of({"id": f"C{number}", "fingerprint": f"{number:016x}", "pattern": "gets", "file": "a.c", "line": number})
    for number in (1, 2, 3)
]


def play(answers: Iterable[str], known: dict[str, Judgement] | None = None) -> list[Step]:
    """Return all that was wanted, until the sitting ends or the answers do."""
    sitting = judge_findings(FINDINGS, {} if known is None else known)
    wanted, left = [next(sitting)], iter(answers)
    try:
        while True:
            answer = "" if isinstance(wanted[-1], SaveVerdict) else next(left)
            wanted.append(sitting.send(answer))
    except StopIteration:
        return wanted


def kept(wanted: Iterable[Step]) -> list[tuple[str, str, str]]:
    return [
        (one.verdict.fingerprint[-1], one.verdict.verdict, one.verdict.reason)
        for one in wanted
        if isinstance(one, SaveVerdict)
    ]


def places(wanted: Iterable[Step]) -> list[int]:
    return [one.place for one in wanted if isinstance(one, ShowFinding)]


def test_true_and_false_are_kept_at_once_and_false_is_asked_for_its_reason() -> None:
    wanted = play(["t", "f", " measured \t twice", "s"])

    assert [type(one) for one in wanted] == [
        ShowFinding,
        SaveVerdict,
        ShowFinding,
        AskQuestion,
        SaveVerdict,
        ShowFinding,
    ]
    assert kept(wanted) == [("1", "true", ""), ("2", "false", "measured twice")]
    (first, _) = (one.verdict for one in wanted if isinstance(one, SaveVerdict))
    assert (first.by, first.rule, first.file) == (getpass.getuser(), "gets", "a.c")


@pytest.mark.parametrize("quit_key", ["q", "\x04", ""])
def test_it_ends_when_somebody_quits_or_the_terminal_is_gone(quit_key: str) -> None:
    assert places(play(["s", quit_key, "t"])) == [0, 1]


def test_it_goes_back_to_what_was_said_and_the_last_word_counts() -> None:
    known: dict[str, Judgement] = {}

    wanted = play(["b", "t", "b", "f", "no", "q"], known)

    assert places(wanted) == [0, 0, 1, 0, 1]
    shown = [one for one in wanted if isinstance(one, ShowFinding)]
    assert shown[1].hint == "this is the first finding"
    assert shown[3].verdict == next(one.verdict for one in wanted if isinstance(one, SaveVerdict))
    assert known["0" * 15 + "1"].reason == "no"


@pytest.mark.parametrize(
    ("reason", "hint"), [("", "requires a reason"), ("a\x1b[2J", "contains control"), ("x" * 1_001, "limit 1,000")]
)
def test_without_a_good_reason_nothing_is_false(reason: str, hint: str) -> None:
    wanted = play(["f", reason, "q"])

    assert kept(wanted) == []
    assert hint in wanted[-1].hint


def test_another_key_does_nothing_and_says_which_there_are() -> None:
    wanted = play(["x", "escape", "T", " ", "\n"])

    assert places(wanted) == [0, 0, 0, 0, 1, 2]
    assert KEYS in wanted[1].hint


def test_wont_fix_needs_a_reason_and_later_takes_a_note_that_was_written_before() -> None:
    wanted = play(["w", "only on trusted input", "n", "ask the owner", "l", "t"])

    assert kept(wanted) == [
        ("1", "wontfix", "only on trusted input"),
        ("2", "later", "ask the owner"),
        ("3", "true", ""),
    ]
    assert [one.question for one in wanted if isinstance(one, AskQuestion)] == ["why will it not be fixed? ", "note: "]


def test_a_note_on_a_judged_finding_keeps_its_verdict_and_its_place() -> None:
    wanted = play(["t", "b", "n", "CVE-2026-1", "q"])

    assert kept(wanted) == [("1", "true", ""), ("1", "true", "CVE-2026-1")]
    assert places(wanted) == [0, 1, 0, 0]


def test_more_and_less_code_is_shown_within_bounds() -> None:
    shown = [one for one in play(["-", *"++++++", "-", "s", "q"]) if isinstance(one, ShowFinding)]

    assert [one.around for one in shown] == [None, None, 12, 25, 50, 100, 100, 100, 50, None]
    assert "no less code can be shown" in shown[1].hint
    assert "no more code can be shown" in shown[7].hint


def test_the_editor_is_asked_for_and_what_went_wrong_is_a_hint() -> None:
    wanted = play(["e", "no editor: set VISUAL or EDITOR", "q"])

    assert [type(one) for one in wanted] == [ShowFinding, EditFinding, ShowFinding]
    assert wanted[2].hint.startswith("no editor")


def test_help_has_a_line_for_each_key() -> None:
    assert play(["?", "q"])[1].hint == HELP
    assert all(f"{key} " in HELP for key in "tfwlnsbe+-?q")
