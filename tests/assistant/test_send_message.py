"""SEND_MESSAGE: what is a message, what is only a quotation, and what a model is told about a wrong block."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.text_tool_call import tags
from jarvis_workers.agents.tools.tool import BadCall, Tool
from jarvis_workers.assistant.send_message import BLOCK_MAX, MessageHandler, TeamMessage, read_message
from jarvis_workers.errors import AgentStopped
from tests.agents.loop.arrange import MARKS, TEXT, Scripted, agent_of, call, look, run, text

OTHERS = {"reader": "reads code", "writer": ""}
RIGHT = "<SEND_MESSAGE>\nto: reader\ncontent: |2\n  # Please read\n  - a.c: why?\n</SEND_MESSAGE>"


def block(body: str) -> str:
    return f"<SEND_MESSAGE>\n{body}\n</SEND_MESSAGE>"


@pytest.mark.parametrize(
    "answer",
    [
        RIGHT,
        f"I need to know more.\n\n{RIGHT}\n\n",
        RIGHT.replace("\n", "\r\n"),
        RIGHT.removesuffix("</SEND_MESSAGE>"),
        RIGHT.replace("<SEND_MESSAGE>\nto", "  <SEND_MESSAGE>to"),
        RIGHT.replace("why?\n</", "why?</"),
        f"As in\n```\n{RIGHT}\n```\nI send this:\n{RIGHT}",
    ],
)
def test_a_block_that_ends_the_answer_is_a_message(answer: str) -> None:
    assert MessageHandler(OTHERS).can_handle(answer)
    assert read_message(answer, OTHERS) == TeamMessage("reader", "# Please read\n- a.c: why?")


@pytest.mark.parametrize(
    "answer",
    [
        "It is done.",
        "A message starts with <SEND_MESSAGE> and ends with </SEND_MESSAGE>.",
        f"The file says:\n```\n{RIGHT}\n```\nThat is all.",
        f"The file says:\n~~~~text\n```\n{RIGHT}\n~~~~\nThat is all.",
        "\n".join(f"{MARKS.line}{line}" for line in RIGHT.split("\n")),
    ],
)
def test_a_quoted_block_is_no_message(answer: str) -> None:
    assert not MessageHandler(OTHERS).can_handle(answer)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (block("content: hello"), "to is missing in the message"),
        (block("to: reader"), "content is missing in the message"),
        (block("{}"), "to and content are missing in the message"),
        (block(""), "the SEND_MESSAGE block is empty"),
        (block("to: '  '\ncontent: hello"), "to is blank in the message"),
        (block("to: reader\ncontent: |2\n   \n"), "content is blank in the message"),
        (block("to: reader\ncontent:"), "content is blank in the message"),
        (block("to: [reader]\ncontent: hello"), "to should be text, not list"),
        (block("to: reader\ncontent: 12"), "content should be text, not int"),
        (block("- to: reader"), "should have the fields to and content"),
        (block("to: reader\ncontent: hello\nurgent: true"), "only the fields to and content, not 'urgent'"),
        (f"{RIGHT}\n{RIGHT}", "the answer has 2 SEND_MESSAGE blocks"),
        (block("to: reader\ncontent: see: this\n"), "line 2 of the SEND_MESSAGE block is not valid YAML"),
        (block("to: reader\nto: writer\ncontent: hello"), '"to" occurs twice'),
        (block("to: Reader\ncontent: hello"), "no other agent 'Reader' in the team; send to one of: reader, writer"),
        (f"{RIGHT}\nI am waiting.", "there is text after </SEND_MESSAGE>"),
        (f"```\n{RIGHT}\n```", "is in a code fence"),
        (RIGHT.removeprefix("<SEND_MESSAGE>"), "has no <SEND_MESSAGE> at the beginning of a line"),
        (block("to: reader\ncontent: " + "x" * BLOCK_MAX), "characters long, limit"),
        (block("[" * 5000), "is not valid YAML"),
        (block("to: &a reader\ncontent: *a"), "line 2 of the SEND_MESSAGE block is not valid YAML: YAML aliases"),
    ],
)
def test_each_fault_is_named_and_a_right_block_is_shown(answer: str, says: str) -> None:
    handler = MessageHandler(OTHERS)

    assert handler.can_handle(answer)
    with pytest.raises(BadCall) as fault:
        handler.handle(answer, agent_of())
    assert says in str(fault.value)
    assert str(fault.value).count("Nothing was sent") == 1
    shown = str(fault.value)[str(fault.value).index("<SEND_MESSAGE>\nto: ") :]
    assert read_message(shown, OTHERS).to == "reader"


@given(st.text(alphabet=st.sampled_from("<SEND_MESSAGE>/\n`~:|toconent []{}&*!-#reader\r\0"), max_size=200))
def test_no_answer_is_an_error_of_the_program(noise: str) -> None:
    for answer in (noise, f"<SEND_MESSAGE>\n{noise}", f"{noise}\n</SEND_MESSAGE>"):
        if MessageHandler(OTHERS).can_handle(answer):
            with suppress(BadCall):
                assert read_message(answer, OTHERS).to in OTHERS


def messaging(*tools: Tool, **about: Any) -> Agent:
    return agent_of(*tools, handlers=[MessageHandler(OTHERS)], **about)


def test_a_bad_block_goes_back_to_the_model_until_it_is_right() -> None:
    agent = messaging()
    platform = Scripted(text(block("to: nobody\ncontent: hello")), text(RIGHT))

    result = run(agent, platform)

    assert (result.ending, result.report.to) == ("handled", "reader")
    assert "no other agent 'nobody'" in platform.requests[1].messages[-1].content


def test_bad_blocks_are_limited() -> None:
    with pytest.raises(AgentStopped) as stop:
        run(messaging(), Scripted(*[text(block("to: nobody"))] * 3))

    assert stop.value.reason == "malformed"


def test_a_truncated_answer_sends_nothing() -> None:
    platform = Scripted(text(RIGHT.removesuffix("\n</SEND_MESSAGE>"), finish="length"), text("It is done."))

    assert run(messaging(), platform).text == "It is done."
    assert "truncated" in platform.requests[1].messages[-1].content


def test_a_message_beside_a_tool_call_sends_nothing_and_calls_nothing() -> None:
    seen: list[str] = []
    both = call("look", '{"at": "a"}')
    platform = Scripted(text(RIGHT, calls=both.calls, finish="tool_calls"), text("It is done."))

    assert run(messaging(look(seen)), platform).text == "It is done."
    assert seen == []
    assert "several actions (SEND_MESSAGE, look), and none was run" in platform.requests[1].messages[-1].content


def test_a_message_beside_a_text_call_sends_nothing_and_calls_nothing() -> None:
    start, end = tags(MARKS.nonce)
    seen: list[str] = []
    both = f'{RIGHT}\n{start}\n{{"name": "look"}}\n{end}'
    platform = Scripted(text(both), text("It is done."))

    assert run(messaging(look(seen), profile=TEXT), platform).text == "It is done."
    assert seen == []
