"""Output handlers: which of them acts on an answer, and what follows."""

from typing import Any

import pytest

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.events import AFTER_TOOL_CALL, BEFORE_TOOL_CALL, EventBus
from tests.agents.loop.arrange import Scripted, agent_of, heard, run, text


class Tagged:
    """A handler of answers that start with a tag, as in the seeds' example."""

    def __init__(self, tag: str, *, returns: bool = False, result: str = "") -> None:
        self.tag, self.returns, self.result = tag, returns, result

    def name(self) -> str:
        return self.tag

    def can_handle(self, answer: str) -> bool:
        return self.tag in answer

    def prompt(self) -> str:
        return f"Write {self.tag} to act."

    def handle(self, answer: str, agent: Any) -> tuple[bool, Any]:
        return self.returns, self.result or f"{agent.name} handled {answer}"


def agent_with(*handlers: Tagged) -> Agent:
    return agent_of(handlers=handlers)


def test_the_prompt_of_a_handler_is_in_the_system_prompt() -> None:
    platform = Scripted(text("done"))

    run(agent_with(Tagged("ONE:"), Tagged("TWO:")), platform)

    assert "Be careful.\n\nWrite ONE: to act.\n\nWrite TWO: to act." in platform.requests[0].messages[0].content


def test_the_conversation_continues_with_the_result_of_a_handler() -> None:
    platform = Scripted(text("ONE: look"), text("done"))

    assert run(agent_with(Tagged("ONE:"), Tagged("TWO:")), platform).text == "done"
    assert platform.requests[1].messages[-1].content == "Jarvis handled ONE: look"


def test_a_handler_can_end_the_task() -> None:
    bus = EventBus()
    told = heard(bus, BEFORE_TOOL_CALL, AFTER_TOOL_CALL)

    result = run(agent_with(Tagged("ONE:", returns=True, result="it")), Scripted(text("ONE: look")), bus=bus)

    assert (result.text, result.ending, result.report) == ("ONE: look", "handled", "it")
    assert [(event, payload.get("need_return")) for event, payload in told] == [
        (BEFORE_TOOL_CALL, None),
        (AFTER_TOOL_CALL, True),
    ]


def test_an_answer_for_two_handlers_runs_none_of_them() -> None:
    platform = Scripted(text("ONE: and TWO:"), text("done"))

    run(agent_with(Tagged("ONE:", returns=True), Tagged("TWO:", returns=True)), platform)

    assert "several actions (ONE:, TWO:), and none was run" in platform.requests[1].messages[-1].content


@pytest.mark.parametrize("answer", ["done", "ONE and TWO"])
def test_an_answer_that_no_handler_can_handle_ends_the_task(answer: str) -> None:
    assert run(agent_with(Tagged("ONE:")), Scripted(text(answer))).ending == "answer"
