"""The analysis of a task: when it runs, what it may do, and that it changes nothing else."""

import pytest

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.events import TASK_COMPLETED, TASK_STARTED, EventBus
from jarvis_workers.agents.tools.tool import Tool
from jarvis_workers.assistant.analysis import DONE, add_analysis, analyze_task
from jarvis_workers.assistant.methodology import Methodology, save_methodology
from jarvis_workers.errors import ModelRefused
from jarvis_workers.models.platforms.protocol import Reply
from tests.agents.loop.arrange import Lines, Scripted, agent_of, answered, call, heard, look, run, text
from tests.assistant.test_methodology import Book

SAVES = call("save_methodology", '{"problem_type": "memory leak", "content": "List the allocations."}')


def analyzed(*tools: Tool, need_summary: bool = False) -> Agent:
    agent = agent_of(*tools, auto_complete=False, need_summary=need_summary)
    add_analysis(agent)
    return agent


def test_the_analysis_may_call_tools_and_save_a_methodology() -> None:
    book, seen = Book(), list[str]()
    agent = analyzed(look(seen), save_methodology(book))
    platform = Scripted(text("It leaks."), call("look", '{"at": "a"}'), SAVES, text("It went well."))

    result = run(agent, platform)

    assert (result.text, result.asks, seen) == ("It leaks.", 4, ["a"])
    assert book.saved == [Methodology(problem_type="memory leak", content="List the allocations.")]
    assert "The task is over." in platform.requests[1].messages[-1].content
    assert [message.role for message in agent.session.messages] == ["system", "user", "assistant"]
    assert agent.session.user_data[DONE] is True


def test_it_comes_before_the_summary_and_only_once() -> None:
    bus = EventBus()
    told = heard(bus, TASK_STARTED, TASK_COMPLETED)
    platform = Scripted(text("It leaks."), text("It went well."), text("A summary."))

    result = run(analyzed(need_summary=True), platform, bus=bus)

    assert (result.text, result.summary) == ("It leaks.", "A summary.")
    assert "The task is over." in platform.requests[1].messages[-1].content
    assert "It went well." not in str(platform.requests[2].messages)
    assert [event for event, _ in told] == [TASK_STARTED, TASK_COMPLETED]


def test_each_task_is_analyzed() -> None:
    agent = analyzed()
    results = [run(agent, Scripted(text("Done."), text("Well.")), task=task) for task in ("one", "two")]

    assert [result.asks for result in results] == [2, 4]


@pytest.mark.parametrize("failures", [[ModelRefused("no")], [text("", finish="length")] * 3])
def test_a_failed_analysis_changes_nothing(failures: list[Reply | Exception], caplog: pytest.LogCaptureFixture) -> None:
    assert run(analyzed(), Scripted(text("It leaks."), *failures)).text == "It leaks."
    assert caplog.records[-1].getMessage() == "no task analysis"


def test_an_analysis_is_bounded() -> None:
    seen: list[str] = []
    looks = [call("look", f'{{"at": "{number}"}}') for number in range(6)]

    assert run(analyzed(look(seen)), Scripted(text("It leaks."), *looks)).text == "It leaks."
    assert len(seen) == 6


def test_a_person_can_be_quoted_and_a_second_analysis_asks_nothing() -> None:
    agent = agent_of()
    _, messages = answered(analyze_task(agent, "It is too long."), ["I will be brief."])

    assert "It is too long." in messages[0]
    assert answered(analyze_task(agent), []) == ("", [])


def test_a_resumed_task_asks_for_no_second_analysis() -> None:
    log = Lines()
    first = run(analyzed(), Scripted(text("It leaks."), text("It went well.")), log=log)
    again = run(analyzed(), Scripted(), log=Lines(log.all))

    assert (again.text, again.asks) == (first.text, first.asks) == ("It leaks.", 2)
