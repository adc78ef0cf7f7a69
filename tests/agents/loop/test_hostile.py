"""Whatever comes from outside, it is read or refused, and nothing else happens."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from jarvis_workers.agents.loop.report import BadReport, ReportForm
from jarvis_workers.agents.loop.text_tool_call import find_calls, tags
from jarvis_workers.agents.loop.transcript import read_line
from jarvis_workers.agents.loop.untrusted_text import Guard, escape
from jarvis_workers.agents.tools.tool import BadCall, read_arguments
from jarvis_workers.errors import BrokenAnswer
from jarvis_workers.models.platforms.apis import decode
from jarvis_workers.models.platforms.protocol import Reply, estimate

NAMES = (
    "choices",
    "message",
    "delta",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "index",
    "usage",
    "id",
)
START, END = tags("n")
PARTS = (
    START,
    END,
    "\n",
    "{",
    "}",
    '"name"',
    ":",
    '"look"',
    "<REPORT>",
    "</REPORT>",
    "- gid: 1",
    "  says: x",
    "```",
    " ",
    "<think>",
)

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=20,
)
answers = st.fixed_dictionaries(
    {"choices": st.lists(st.fixed_dictionaries({"message": values, "delta": values}), max_size=2)}
)
texts = st.lists(st.sampled_from(PARTS) | st.text(max_size=5), max_size=25).map("".join)
any_text = st.text(st.characters(), max_size=200)


class Item(BaseModel):
    """An item of a report."""

    gid: int
    says: str


FORM = ReportForm(list[Item])


@pytest.mark.slow
@given(values | answers)
def test_an_answer_of_any_form_is_a_reply_or_broken(value: Any) -> None:
    with suppress(BrokenAnswer):
        assert isinstance(decode(json.dumps(value).encode()), Reply)


@pytest.mark.slow
@given(texts)
def test_a_text_of_any_form_is_a_call_or_none_or_refused(text: str) -> None:
    with suppress(BadCall):
        calls = find_calls(text, "n")
        assert not calls or text.rstrip().endswith(END)


@settings(max_examples=3 * settings().max_examples)
@given(texts)
def test_a_text_of_any_form_is_a_report_or_none(text: str) -> None:
    with suppress(BadReport):
        assert all(isinstance(item, Item) for item in FORM.read_text(text))


@given(any_text)
def test_arguments_of_any_form_are_an_object_or_refused(text: str) -> None:
    with suppress(BadCall):
        assert isinstance(read_arguments(text), dict)


@given(any_text)
def test_every_line_of_any_text_is_marked_and_can_be_seen(text: str) -> None:
    shown = Guard("mark").admit(text)

    assert all(line.startswith("mark") for line in shown.split("\n"))
    assert len(shown.splitlines()) == shown.count("\n") + (not shown.endswith("\n"))
    assert escape(shown) == shown


@given(any_text, any_text)
def test_tokens_of_two_texts_are_about_those_of_both(one: str, other: str) -> None:
    assert abs(estimate(one + other) - estimate(one) - estimate(other)) <= 1


@given(st.binary(max_size=100))
def test_a_line_of_any_form_is_a_record_or_none(line: bytes) -> None:
    assert read_line(line) is None
