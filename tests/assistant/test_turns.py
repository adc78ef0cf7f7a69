"""Turns of a conversation with a person: confirmations, interrupts, questions, sub-agents, limits."""

import json

import pytest

from jarvis_workers.agents.loop.events import INTERRUPT_TRIGGERED
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.assistant.autonomy import Autonomy
from jarvis_workers.assistant.person_tools import ask_user, make_child, sub_agent
from jarvis_workers.assistant.turns import TurnRules, take_turn
from jarvis_workers.errors import AgentStopped, ModelUnavailable
from tests.agents.loop.arrange import agent_of, look
from tests.assistant.play import CTRL_C, Play, call, reply, rules

SEEN = ToolOutcome(stdout="SEEN")
LOOKS = call("look", '{"at": "a"}')


def last(play: Play) -> str:
    """Return the last message that the model saw."""
    return play.requests[-1].messages[-1].content


def test_each_input_is_a_turn_of_one_session() -> None:
    agent = agent_of(auto_complete=False)
    first, second = Play([reply("one")]), Play([reply("two")])

    results = [first.drive(take_turn(agent, "1st", rules())), second.drive(take_turn(agent, "2nd", rules()))]

    assert [result.text for result in results if result] == ["one", "two"]
    assert [message.content for message in second.requests[0].messages[1:]] == [f"{agent.opening}\n\n1st", "one", "2nd"]


def test_limits_on_calls_hold_for_a_turn_and_limits_on_tokens_for_the_session() -> None:
    agent = agent_of(auto_complete=False, limits=AgentLimits(rounds=1, tokens=300))

    for text in "one", "two", "three":
        Play([reply("yes")]).drive(take_turn(agent, text, rules()))
    with pytest.raises(AgentStopped, match="used 360 tokens"):
        Play().drive(take_turn(agent, "four", rules()))


@pytest.mark.parametrize(
    ("decision", "runs", "says"), [("yes", 1, "SEEN"), ("no", 0, "not run: the user refused the call")]
)
def test_a_supervised_call_runs_only_after_a_yes(decision: str, runs: int, says: str) -> None:
    play = Play([LOOKS, reply("done")], [SEEN] * runs, decisions=[decision])

    play.drive(take_turn(agent_of(look([])), "go", rules("supervised")))

    assert (len(play.runs), says in last(play)) == (runs, True)
    assert "at: a" in play.confirms[0].call


def test_always_holds_for_the_session() -> None:
    agent, session = agent_of(look([])), rules("supervised")
    first, second = Play([LOOKS, reply("1")], [SEEN], decisions=["always"]), Play([LOOKS, reply("2")], [SEEN])

    first.drive(take_turn(agent, "go", session))
    second.drive(take_turn(agent, "go", session))

    assert (len(first.confirms), len(second.confirms), len(second.runs)) == (1, 0, 1)


def test_without_a_person_nothing_is_confirmed() -> None:
    play = Play([LOOKS, reply("done")])

    play.drive(take_turn(agent_of(look([])), "go", rules("supervised", has_person=False)))

    assert (play.runs, play.confirms) == ([], [])


def test_a_read_only_session_refuses_before_it_asks() -> None:
    play = Play([LOOKS, reply("done")])

    play.drive(take_turn(agent_of(look([])), "go", rules("readonly")))

    assert (play.runs, play.confirms, "read-only session" in last(play)) == ([], [], True)


def test_after_an_interrupted_request_the_input_goes_to_the_model() -> None:
    agent = agent_of(auto_complete=False)
    play = Play([CTRL_C, reply("done")], texts=["look at b instead"])

    result = play.drive(take_turn(agent, "go", rules()))

    assert result is not None and result.text == "done"
    sent = [message.content for message in play.requests[1].messages[1:]]
    assert sent == [f"{agent.opening}\n\ngo", "(interrupted by the user)", "look at b instead"]
    assert [question.last for question in play.questions] == [True]
    payload = next(tell.payload for tell in play.tells if tell.event == INTERRUPT_TRIGGERED)
    assert payload == {"agent": agent, "current_response": "", "user_input": "look at b instead"}


def test_empty_input_after_an_interrupt_completes_the_turn() -> None:
    agent = agent_of(auto_complete=False)

    assert Play([CTRL_C], texts=[""]).drive(take_turn(agent, "go", rules())) is None
    after = Play([reply("hello")])
    after.drive(take_turn(agent, "next", rules()))

    assert [message.role for message in after.requests[0].messages] == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize(
    ("answer", "runs", "result"), [("y", 2, "SEEN"), ("", 1, "interrupted by the user"), ("no", 1, "interrupted")]
)
def test_a_pending_call_runs_only_if_the_person_says_so(answer: str, runs: int, result: str) -> None:
    play = Play([LOOKS, reply("done")], [CTRL_C, *[SEEN] * (runs - 1)], texts=["faster", answer])

    play.drive(take_turn(agent_of(look([])), "go", rules()))

    assert len(play.runs) == runs
    assert [message.role for message in play.requests[1].messages[-2:]] == ["tool", "user"]
    assert result in play.requests[1].messages[-2].content and last(play) == "faster"
    assert "look" in play.questions[1].question


def test_ctrl_c_at_a_confirmation_asks_about_the_pending_call() -> None:
    play = Play([LOOKS, reply("done")], [SEEN], texts=["go on", "y"], decisions=[CTRL_C])

    play.drive(take_turn(agent_of(look([])), "go", rules("supervised")))

    assert len(play.runs) == 1


def test_a_model_that_is_unavailable_ends_the_turn_with_a_reason() -> None:
    with pytest.raises(AgentStopped, match="no answer"):
        Play([ModelUnavailable("no answer")]).drive(take_turn(agent_of(), "go", rules()))


def test_ask_user_asks_the_person() -> None:
    asks = call("ask_user", '{"question": "Which one?"}')
    play = Play([asks, reply("done")], texts=["the second"])

    play.drive(take_turn(agent_of(ask_user()), "go", rules()))

    assert ([question.question for question in play.questions], last(play)) == (["Which one?"], "the second")
    assert not play.questions[0].last


DELEGATES = call("sub_agent", json.dumps({"task": "find it", "background": "in a.c"}))


def test_a_sub_agent_gets_the_task_the_tools_and_what_is_left_of_the_limits() -> None:
    agent = agent_of(look([]), ask_user(), sub_agent(), limits=AgentLimits(rounds=9, tokens=1000))
    play = Play([DELEGATES, LOOKS, reply("it is in a.c"), reply("done")], [SEEN])

    play.drive(take_turn(agent, "go", rules()))

    child = play.requests[1]
    assert "\n\nfind it\n" in child.messages[-1].content and "in a.c" in child.messages[0].content
    assert [tool.name for tool in child.tools] == ["look", "sub_agent"]
    assert play.asides == [False, True, True, False]
    assert f"{agent.marks.line}it is in a.c" in last(play)
    assert (agent.spent.asks, agent.spent.usage.total) == (4, 480)


def test_a_sub_agent_at_the_second_level_has_none_of_its_own_and_asks_nobody() -> None:
    agent = agent_of(look([]), ask_user(), sub_agent(), limits=AgentLimits(rounds=9, tokens=1000))
    agent.spent.asks = 5

    second = make_child(make_child(agent, {"task": "a"}, 1), {"task": "b"}, 2)

    assert second.tools.names == ("look",)
    assert second.limits.rounds == 4


def test_a_sub_agent_that_reaches_a_limit_is_a_failed_call() -> None:
    agent = agent_of(look([]), sub_agent(), limits=AgentLimits(rounds=3))
    play = Play([DELEGATES, LOOKS, LOOKS, reply("no")], [SEEN, SEEN])

    with pytest.raises(AgentStopped, match="after 3 model calls"):
        Play([DELEGATES, LOOKS, LOOKS], [SEEN, SEEN]).drive(take_turn(agent, "go", rules()))
    agent.limits = AgentLimits(rounds=4, tool_calls=1)
    play = Play([DELEGATES, LOOKS, LOOKS, reply("partly")], [SEEN])
    play.drive(take_turn(agent, "go", rules()))

    assert "the sub-agent was stopped (tool_calls)" in last(play)


def test_a_sub_agent_is_supervised_as_its_parent() -> None:
    play = Play([DELEGATES, LOOKS, reply("no"), reply("done")], decisions=["yes", "no"])
    supervised = TurnRules(Autonomy("supervised"), make_child)

    play.drive(take_turn(agent_of(look([]), sub_agent()), "go", supervised))

    assert (play.runs, len(play.confirms)) == ([], 2)
