"""The keys of a sitting: a generator that is fed with them, and asks for all that it wants."""

import getpass
from collections.abc import Iterable

import pytest

from jarvis_cli.sitting import KEYS, Ask, Keep, Show, sit
from jarvis_workers.sec.judgement import Judgement

FINDINGS = [
    {"id": f"C{number}", "fingerprint": f"{number:016x}", "pattern": "gets", "file": "a.c", "line": number}
    for number in (1, 2, 3)
]


def play(answers: Iterable[str], known: dict[str, Judgement] | None = None) -> list[Show | Ask | Keep]:
    """Return all that was wanted, until the sitting ends or the answers do."""
    sitting = sit(FINDINGS, {} if known is None else known)
    wanted, left = [next(sitting)], iter(answers)
    try:
        while True:
            answer = "" if isinstance(wanted[-1], Keep) else next(left)
            wanted.append(sitting.send(answer))
    except StopIteration:
        return wanted


def kept(wanted: Iterable[Show | Ask | Keep]) -> list[tuple[str, bool, str]]:
    return [(one.said.fingerprint[-1], one.said.verdict, one.said.reason) for one in wanted if isinstance(one, Keep)]


def places(wanted: Iterable[Show | Ask | Keep]) -> list[int]:
    return [one.place for one in wanted if isinstance(one, Show)]


def test_true_and_false_are_kept_at_once_and_false_is_asked_for_its_reason() -> None:
    wanted = play(["t", "f", " measured \t twice", "s"])

    assert [type(one) for one in wanted] == [Show, Keep, Show, Ask, Keep, Show]
    assert kept(wanted) == [("1", True, ""), ("2", False, "measured twice")]
    (first, _) = (one.said for one in wanted if isinstance(one, Keep))
    assert (first.by, first.rule, first.file) == (getpass.getuser(), "gets", "a.c")


@pytest.mark.parametrize("quit_key", ["q", "\x04", ""])
def test_it_ends_when_somebody_quits_or_the_terminal_is_gone(quit_key: str) -> None:
    assert places(play(["s", quit_key, "t"])) == [0, 1]


def test_it_goes_back_to_what_was_said_and_the_last_word_counts() -> None:
    known: dict[str, Judgement] = {}

    wanted = play(["b", "t", "b", "f", "no", "q"], known)

    assert places(wanted) == [0, 0, 1, 0, 1]
    shown = [one for one in wanted if isinstance(one, Show)]
    assert shown[1].hint == "this is the first"
    assert shown[3].said == next(one.said for one in wanted if isinstance(one, Keep))
    assert known["0" * 15 + "1"].reason == "no"


@pytest.mark.parametrize(
    ("reason", "hint"), [("", "takes a reason"), ("a\x1b[2J", "holds control"), ("x" * 1_001, "at most")]
)
def test_without_a_good_reason_nothing_is_false(reason: str, hint: str) -> None:
    wanted = play(["f", reason, "q"])

    assert kept(wanted) == []
    assert hint in wanted[-1].hint


def test_another_key_does_nothing_and_says_which_there_are() -> None:
    wanted = play(["x", "escape", "T", " ", "\n"])

    assert places(wanted) == [0, 0, 0, 0, 1, 2]
    assert KEYS in wanted[1].hint
