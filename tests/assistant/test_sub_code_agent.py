"""A part of a change is a conversation of its own, within the limits of the whole."""

import json

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Ask, Definition
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.assistant.sub_code_agent import SUB_CODE_AGENT, sub_code_tool, with_children
from jarvis_workers.errors import ModelUnavailable
from jarvis_workers.models.platforms.protocol import Reply
from tests.agents.loop.arrange import NATIVE, agent_of, call, text

LIMITS = AgentLimits(rounds=6, tokens=1_000)
PART = call(SUB_CODE_AGENT, json.dumps({"task": "The part"}))


def converse(answers: list[Reply | Exception]) -> tuple[str, Agent, list[Agent], list[Ask]]:
    """Run a conversation; return its text, the parent, the children and the requests."""
    parent = agent_of(sub_code_tool(), limits=LIMITS, auto_complete=False)
    children, asked = list[Agent](), list[Ask]()

    def make(about: Definition, limits: AgentLimits) -> Agent:
        children.append(Agent(about, parent.tools.only([]), profile=NATIVE, marks=parent.marks, limits=limits))
        return children[-1]

    talk = with_children(parent, run_task(parent, "The task"), make)
    answer: Reply | None = None
    try:
        want = next(talk)
        while True:
            answer = None
            if isinstance(want, Ask):
                asked.append(want)
                following = answers.pop(0)
                if isinstance(following, Exception):
                    want = talk.throw(following)
                    continue
                answer = following
            want = talk.send(answer)
    except StopIteration as end:
        return end.value.text, parent, children, asked


def test_a_part_has_a_history_of_its_own_and_its_answer_is_foreign_text():
    said, parent, children, asked = converse([PART, text("The part is done."), text("All done.")])

    assert said == "All done."
    assert [message.role for message in asked[1].request.messages] == ["system", "user"]
    assert asked[1].request.messages[-1].content.startswith(f"{children[0].opening}\n\nThe part")
    assert asked[2].request.messages[-1].content == f"{parent.marks.line}The part is done."
    assert (children[0].limits.rounds, children[0].limits.tokens) == (5, 880)
    assert (parent.spent.asks, parent.spent.usage.total) == (3, 360)


def test_a_part_that_stops_is_a_failed_call_of_the_parent():
    said, _, _, asked = converse([PART, ModelUnavailable("no answer"), text("Without it.")])

    assert said == "Without it."
    assert "it stopped (unavailable): no answer" in asked[2].request.messages[-1].content


def test_the_limits_of_the_whole_hold_for_all_parts():
    _, parent, children, _ = converse([PART, text("One."), PART, text("Two."), text("All done.")])

    assert [child.limits.rounds for child in children] == [5, 3]
    assert parent.spent.asks == 5
