"""What a person sees of a streamed answer, however it is cut into pieces."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.assistant.answer_display import AnswerText

CASES = [
    ("Hello\n  world", "Hello\n  world"),
    ("a < b\n<b>\n", "a < b\n<b>\n"),
    ("I look.\n<TOOL_CALL 12ab>\n{}\n</TOOL_CALL 12ab>", "I look.\n"),
    ("quoted <TOOL_CALL x> here", "quoted <TOOL_CALL x> here"),
    ("Done.\n!!!COMPLETE!!!\n", "Done.\n"),
    ("Done.\n!!!COMPLETE!!!", "Done.\n"),
    ("!!!COMPLETE", "!!!COMPLETE"),
    ("<TOOL", "<TOOL"),
    ("wow!!!COMPLETE!!!", "wow!!!COMPLETE!!!"),
    ("\n\n", "\n\n"),
]


@pytest.mark.parametrize(("answer", "shown"), CASES)
@given(cuts=st.lists(st.integers(0, 60), max_size=6))
def test_calls_and_the_completion_mark_are_not_shown(answer: str, shown: str, cuts: list[int]) -> None:
    text = AnswerText()
    places = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]
    pieces = [answer[first:last] for first, last in itertools.pairwise(places)]

    assert "".join([*map(text.add, pieces), text.end()]) == shown
