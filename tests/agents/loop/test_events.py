"""What an agent tells while it works: the seeds' names and payloads, to listeners that cannot harm it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.agents.loop import events
from jarvis_workers.agents.loop.drivers import AgentWorld, drive_async
from jarvis_workers.agents.loop.events import AFTER_TOOL_CALL, EventBus
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.plugins import after_tool_callbacks
from jarvis_workers.agents.tools.tool import Tool
from tests.agents.loop.arrange import Scripted, agent_of, call, heard, look, run, text

PAYLOADS: dict[str, tuple[str, ...]] = {
    events.TASK_STARTED: ("agent", "name", "description", "user_input"),
    events.TASK_COMPLETED: ("agent", "auto_completed", "need_summary"),
    events.BEFORE_MODEL_CALL: ("agent", "message"),
    events.AFTER_MODEL_CALL: ("agent", "message", "response"),
    events.BEFORE_TOOL_CALL: ("agent", "current_response"),
    events.AFTER_TOOL_CALL: ("agent", "current_response", "need_return", "tool_prompt"),
    events.BEFORE_ADDON_PROMPT: ("agent", "need_complete", "current_message", "has_session_addon"),
    events.AFTER_ADDON_PROMPT: ("agent", "need_complete", "addon_text", "final_message"),
    events.BEFORE_SUMMARY: ("agent", "prompt", "auto_completed", "need_summary"),
    events.AFTER_SUMMARY: ("agent", "summary"),
    events.BEFORE_HISTORY_CLEAR: ("agent",),
    events.AFTER_HISTORY_CLEAR: ("agent",),
    events.BEFORE_TOOL_FILTER: ("agent", "task", "total_tools", "threshold"),
    events.TOOL_FILTERED: ("agent", "task", "selected_tools", "total_tools", "threshold"),
    events.INTERRUPT_TRIGGERED: ("agent", "current_response", "user_input"),
}


def test_the_order_of_a_whole_task() -> None:
    bus = EventBus()
    told = heard(bus, *PAYLOADS)
    platform = Scripted(call("look"), text("done\n!!!COMPLETE!!!"), text("summary"))

    run(agent_of(look([]), need_summary=True), platform, bus=bus)

    assert [event for event, _ in told] == [
        "TASK_STARTED",
        "BEFORE_ADDON_PROMPT",
        "AFTER_ADDON_PROMPT",
        "BEFORE_MODEL_CALL",
        "AFTER_MODEL_CALL",
        "BEFORE_TOOL_CALL",
        "AFTER_TOOL_CALL",
        "BEFORE_MODEL_CALL",
        "AFTER_MODEL_CALL",
        "BEFORE_SUMMARY",
        "BEFORE_MODEL_CALL",
        "AFTER_MODEL_CALL",
        "AFTER_SUMMARY",
        "TASK_COMPLETED",
    ]
    assert all(set(payload) == set(PAYLOADS[event]) for event, payload in told)


def test_the_payloads_say_what_happens() -> None:
    bus, agent = EventBus(), agent_of(look([]))
    told = dict(heard_last(bus, agent))

    assert told["BEFORE_ADDON_PROMPT"]["current_message"] == "Do it."
    assert told["BEFORE_ADDON_PROMPT"]["need_complete"] is True
    assert told["AFTER_ADDON_PROMPT"]["final_message"] == "Do it.\n\n" + told["AFTER_ADDON_PROMPT"]["addon_text"]
    assert told["AFTER_MODEL_CALL"]["response"] == "done\n!!!COMPLETE!!!"
    assert (told["AFTER_TOOL_CALL"]["need_return"], told["AFTER_TOOL_CALL"]["tool_prompt"]) == (False, "X")
    assert told["TASK_COMPLETED"]["auto_completed"] is True
    assert all(payload["agent"] is agent for payload in told.values())


def heard_last(bus: EventBus, agent: Any) -> list[tuple[str, Any]]:
    told = heard(bus, *PAYLOADS)
    run(agent, Scripted(call("look", '{"at": "x"}'), text("done\n!!!COMPLETE!!!")), bus=bus)
    return told


def test_clearing_the_history_is_told_before_and_after() -> None:
    bus, agent = EventBus(), agent_of(look([]), limits=AgentLimits(compact_rounds=1))
    lengths: list[int] = []
    for event in (events.BEFORE_HISTORY_CLEAR, events.AFTER_HISTORY_CLEAR):
        bus.subscribe(event, lambda agent: lengths.append(len(agent.session.messages)))

    run(agent, Scripted(call("look"), text("known"), text("done")), bus=bus)

    assert lengths == [4, 2]


def test_a_listener_that_fails_changes_nothing_and_the_others_hear() -> None:
    bus, told = EventBus(), []

    def fails(**_: Any) -> None:
        raise RuntimeError("no")

    bus.subscribe(AFTER_TOOL_CALL, fails)
    bus.subscribe(AFTER_TOOL_CALL, lambda **payload: told.append(payload["tool_prompt"]))

    assert run(agent_of(look([])), Scripted(call("look"), text("done")), bus=bus).text == "done"
    assert told == ["(no output)"]


def test_who_unsubscribes_hears_no_more() -> None:
    bus, told = EventBus(), []

    def listen(**_: Any) -> None:
        told.append(1)

    bus.subscribe("X", listen)
    bus.emit("X")
    bus.unsubscribe("X", listen)
    bus.unsubscribe("X", listen)
    bus.emit("X")

    assert told == [1]


def many(count: int, seen: list[str]) -> list[Tool]:
    return [look(seen, name=f"look{number}") for number in range(1, count + 1)]


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("2, 5", ["look2", "look5"]),
        ("5\n2 2", ["look2", "look5"]),
        ("31", ["look31"]),
        ("0, 99", []),
        ("I need 2 and 5.", []),
        ("", []),
        ("1e3", []),
    ],
)
def test_above_thirty_tools_the_model_chooses(answer: str, left: list[str]) -> None:
    bus, agent = EventBus(), agent_of(*many(31, []))
    told = heard(bus, "BEFORE_TOOL_FILTER", "TOOL_FILTERED")
    platform = Scripted(text(answer), text("done"))

    run(agent, platform, bus=bus)

    offered = [tool.name for tool in platform.requests[1].tools]
    assert offered == (left or [f"look{number}" for number in range(1, 32)])
    assert platform.requests[0].tools == ()
    assert [(payload["total_tools"], payload["threshold"]) for _, payload in told] == [(31, 30)] * 2
    assert told[1][1]["selected_tools"] == left


def test_a_tool_that_was_not_chosen_cannot_be_called() -> None:
    seen: list[str] = []

    run(agent_of(*many(31, seen)), Scripted(text("2"), call("look1"), call("look2"), text("done")))

    assert len(seen) == 1


def test_up_to_thirty_tools_nobody_is_asked() -> None:
    assert run(agent_of(*many(30, [])), Scripted(text("done"))).asks == 1


CALLBACK = "after_tool_call_cb"
KEEPS = "agent.session.user_data"
EXPORTS = {
    "a_direct.py": f"def after_tool_call_cb(agent):\n    {KEEPS}['direct'] = agent.name\n",
    "b_get.py": f"def get_after_tool_call_cb():\n    return lambda agent: {KEEPS}.update(get=agent.name)\n",
    "c_register.py": f"def cb(agent):\n    {KEEPS}['register'] = 1\ndef register_{CALLBACK}():\n    return cb\n",
    "d_both.py": f"def after_tool_call_cb(agent):\n    {KEEPS}['first'] = 1\ndef get_{CALLBACK}():\n    1 / 0\n",
    "e_broken.py": "this is no python\n",
    "f_raises.py": "raise SystemError('no')\n",
    "g_none.py": "x = 1\n",
    "h_fails.py": "def after_tool_call_cb(agent):\n    raise ValueError('no')\n",
    "i_get_fails.py": "def get_after_tool_call_cb():\n    raise ValueError('no')\n",
    "_hidden.py": "1 / 0\n",
}


def test_callbacks_are_found_in_the_three_forms_and_the_rest_is_left_out(tmp_path: Path) -> None:
    for name, code in EXPORTS.items():
        (tmp_path / name).write_text(code)
    bus, agent = EventBus(), agent_of(look([]))
    for callback in after_tool_callbacks([tmp_path, tmp_path / "missing"]):
        bus.subscribe(AFTER_TOOL_CALL, callback)

    result = run(agent, Scripted(call("look"), text("done")), bus=bus)

    assert result.text == "done"
    assert agent.session.user_data == {"direct": "Jarvis", "get": "Jarvis", "register": 1, "first": 1}


def test_two_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        code = f"def after_tool_call_cb(agent):\n    agent.session.user_data['{place}'] = __name__\n"
        (tmp_path / place / "json.py").write_text(code)
    bus, agent = EventBus(), agent_of(look([]))
    for callback in after_tool_callbacks([tmp_path / "one", tmp_path / "two"]):
        bus.subscribe(AFTER_TOOL_CALL, callback)

    run(agent, Scripted(call("look"), text("done")), bus=bus)

    assert len({*agent.session.user_data.values(), "json"}) == 3


def test_the_asyncio_driver_tells_and_runs_the_same() -> None:
    seen: list[str] = []
    bus = EventBus()
    told = heard(bus, *PAYLOADS)
    agent = agent_of(look(seen), look(seen, name="slow", quick=False))
    platform = Scripted(call("look"), call("slow", '{"at": "s"}'), text("done"))

    result = asyncio.run(drive_async(run_task(agent, "Do it."), AgentWorld(platform, agent.tools, bus=bus)))

    assert (result.text, seen) == ("done", ["", "s"])
    assert len([event for event, _ in told if event == AFTER_TOOL_CALL]) == 2
