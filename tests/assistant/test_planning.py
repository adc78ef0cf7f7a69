"""Planning: when a task is split, what its sub-agents get, and what their parent learns from them."""

from typing import Any

import pytest

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.drivers import AgentWorld
from jarvis_workers.agents.loop.effects import Definition, TaskResult
from jarvis_workers.agents.loop.limits import AgentLimits, AgentUsage
from jarvis_workers.agents.tools.tool import Tool, Toolbox
from jarvis_workers.assistant.planning import plan_and_run, read_plan, share_limits
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.protocol import TokenUsage
from tests.agents.loop.arrange import MARKS, NATIVE, drive, look, platform_of
from tests.agents.loop.server import Body, ModelServer, Step, calls, fails, says
from tests.assistant.teams import last

TASK = "Review all parsers."
WHOLE = says("<DONT_NEED/>")
MARK = f"{MARKS.line}"


def plan_of(*subtasks: str) -> Step:
    lines = "\n".join(f"- {subtask}" for subtask in subtasks)
    return says(f"<PLAN>\n{lines}\n</PLAN>")


class Planned:
    """A task that is planned and run on a model server, and the agents that were made for it."""

    def __init__(self, *tools: Tool, limits: AgentLimits | None = None, **about: Any) -> None:
        self.agents: list[Agent] = []
        self._box = Toolbox(tools)
        self._definition = Definition("Be careful.", auto_complete=False, **about)
        self._limits = limits or AgentLimits()

    def make(self, about: Definition, limits: AgentLimits) -> Agent:
        self.agents.append(Agent(about, self._box, profile=NATIVE, marks=MARKS, limits=limits))
        return self.agents[-1]

    def run(self, server: ModelServer) -> TaskResult:
        agent = self.make(self._definition, self._limits)
        world = AgentWorld(platform_of(server.url), self._box)
        return drive(plan_and_run(agent, TASK, make_child=self.make), world)


def test_a_task_that_need_not_be_split_runs_whole() -> None:
    with ModelServer(WHOLE, says("All are fine.").expecting(lambda body: TASK in last(body))) as server:
        assert Planned().run(server).text == "All are fine."

    plan, task = server.requests
    assert len(plan["messages"]) == 1
    assert "tools" not in plan
    assert "<PLAN>" not in last(task)


def test_sub_tasks_run_in_order_with_the_earlier_results_and_go_back_to_the_parent() -> None:
    seen: list[str] = []
    steps = (
        plan_of("Read: json.c", '"Read xml.c"'),
        WHOLE,
        calls("look", at="json.c"),
        says("json.c\nis fine.\n!!!COMPLETE!!!"),
        WHOLE,
        says("xml.c overflows.\n!!!COMPLETE!!!"),
        says("One parser overflows."),
        says("xml.c overflows, json.c is fine."),
    )
    planned = Planned(look(seen))
    with ModelServer(*steps) as server:
        result = planned.run(server)

    assert result.text == "xml.c overflows, json.c is fine."
    assert (result.tools, result.asks, seen) == ({"look": 1}, 8, ["json.c"])
    first, second, summary, final = (last(server.requests[number]) for number in (2, 5, 6, 7))
    assert "Your sub-task:\nRead: json.c" in first
    assert TASK in first
    assert "Results of earlier" not in first
    assert f"1. Read: json.c\nstate: done\n{MARK}json.c\n{MARK}is fine." in second
    assert f"{MARK}xml.c overflows." in summary
    assert "<PLAN>\n1. Read: json.c\n2. Read xml.c\n</PLAN>" in final
    assert f"<SUB_TASK_RESULTS>\n1. Read: json.c\nstate: done\n{MARK}json.c" in final
    assert f"<RESULT_SUMMARY>\n{MARK}One parser overflows.\n</RESULT_SUMMARY>" in final
    assert [(agent.name, agent.about.plan_depth) for agent in planned.agents] == [
        ("Jarvis", 0),
        ("Jarvis.1", 1),
        ("Jarvis.2", 1),
    ]
    assert planned.agents[1].about.auto_complete


def test_a_plan_that_is_too_long_is_requested_once_more() -> None:
    steps = (plan_of(*"abcde"), plan_of("a"), WHOLE, says("A."), says("Summary."), says("Done."))
    with ModelServer(*steps) as server:
        assert Planned().run(server).text == "Done."

    again = server.requests[1]["messages"]
    assert [message["role"] for message in again] == ["user", "assistant", "user"]
    assert "has 5 sub-tasks; at most 4 are allowed" in again[-1]["content"]


def test_a_plan_that_is_too_long_twice_is_not_used() -> None:
    with ModelServer(plan_of(*"abcde"), plan_of(*"abcdef"), says("Done.")) as server:
        assert Planned().run(server).text == "Done."


def test_sub_agents_split_no_deeper_than_the_maximum() -> None:
    def splits(request: Body) -> Step:
        return plan_of("one part") if "<DONT_NEED/>" in last(request) else says("Done.")

    planned = Planned()
    with ModelServer(forever=splits) as server:
        assert planned.run(server).text == "Done."

    assert [agent.name for agent in planned.agents] == ["Jarvis", "Jarvis.1", "Jarvis.1.1"]
    assert sum("<DONT_NEED/>" in last(request) for request in server.requests) == 2


def test_at_the_maximal_depth_the_task_is_not_planned() -> None:
    with ModelServer(says("Done.")) as server:
        assert Planned(plan_depth=2).run(server).text == "Done."


def test_a_failed_sub_task_is_recorded_and_the_others_go_on() -> None:
    steps = (plan_of("a", "b"), WHOLE, fails(400), WHOLE, says("B."), says("Summary."), says("Only b is known."))
    with ModelServer(*steps) as server:
        assert Planned().run(server).text == "Only b is known."

    assert "1. a\nstate: not done, refused" in last(server.requests[-1])
    assert f"2. b\nstate: done\n{MARK}B." in last(server.requests[-1])


def test_sub_tasks_cannot_use_up_the_limits_of_their_parent() -> None:
    seen: list[str] = []

    def looks_on(request: Body) -> Step:
        if "<DONT_NEED/>" in last(request):
            return plan_of("a", "b") if len(server.requests) == 1 else WHOLE
        if "<SUB_TASK_RESULTS>" in last(request) or "Answer with the summary" in last(request):
            return says("Nothing is known.")
        return calls("look", at=str(len(server.requests)))

    with ModelServer(forever=looks_on) as server:
        result = Planned(look(seen), limits=AgentLimits(rounds=20, tool_calls=50)).run(server)

    assert result.text == "Nothing is known."
    assert last(server.requests[-1]).count("state: not done, rounds") == 2
    assert len(server.requests) < 20
    assert len(seen) > 5


def test_a_planned_task_stops_at_the_limits_of_its_agent() -> None:
    with ModelServer(plan_of("a"), WHOLE, says("A."), says("Summary.")) as server, pytest.raises(AgentStopped) as stop:
        Planned(limits=AgentLimits(tokens=480)).run(server)

    assert stop.value.reason == "tokens"


@pytest.mark.parametrize(
    ("answer", "subtasks"),
    [
        ("<DONT_NEED/>", ()),
        ("", ()),
        ("I would split it.", ()),
        ("<PLAN>\n- a\n- b\n</PLAN>", ("a", "b")),
        ("My plan:\n<PLAN>\n- 'a: b'\n- c: d\n</PLAN>\n", ("a: b", "c: d")),
        ("<PLAN>\n- a\n</PLAN>\n<PLAN>\n- b\n</PLAN>", ()),
        ("<PLAN>\n- a\n</PLAN>\n<DONT_NEED/>", ()),
        ("<PLAN>\na: b\n</PLAN>", ()),
        ("<PLAN>\n- a\n- [b]\n</PLAN>", ()),
        ("<PLAN>\n- a\n-\n</PLAN>", ()),
        ("<PLAN>\n- a: {\n</PLAN>", ()),
        ("<PLAN>\n- !!python/object/apply:os.system [id]\n</PLAN>", ()),
        (f"<PLAN>\n{'[' * 9000}\n</PLAN>", ()),
        (f"<PLAN>\n- {'x' * 40_000}\n</PLAN>", ()),
        ("<PLAN>", ()),
        ("<PLAN>" * 100_000, ()),
        ("<PLAN>\n- &a Read a.c\n- *a\n</PLAN>", ()),
    ],
)
def test_an_unusable_plan_splits_nothing(answer: str, subtasks: tuple[str, ...]) -> None:
    assert read_plan(answer) == subtasks


def test_a_part_of_the_limits_is_an_equal_part_of_what_is_left() -> None:
    spent = AgentUsage(asks=10, usage=TokenUsage(900, 100), cost=1.0, seconds=100.0)
    limits = AgentLimits(rounds=40, tokens=4_000, cost=4.0, seconds=700.0)

    share = share_limits(limits, spent, 3)

    assert (share.rounds, share.tokens, share.cost, share.seconds) == (20, 2_000, 2.0, 300.0)
    unlimited = share_limits(AgentLimits(tokens=None), spent, 3)
    assert (unlimited.tokens, unlimited.cost) == (None, None)
