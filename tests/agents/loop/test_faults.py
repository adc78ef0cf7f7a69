"""Whatever a server does wrong, wherever in a conversation: it ends in its typed stop or the right result, in time."""

import asyncio
import time

import pytest

from jarvis_workers.agents.loop.drivers import AgentWorld, drive_async
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.errors import AgentStopped
from tests.agents.loop.arrange import agent_of, look, platform_of, run
from tests.agents.loop.server import FAULTS, ModelServer, Step, calls, says

pytestmark = pytest.mark.long

DEADLINE = 5.0
GRACE = 1.0
HEALTHY = (calls("look", at="a"), calls("look", at="b"), calls("look", at="c"), says("done"))
POSITIONS = {"first": 0, "middle": 2, "last": 3}
WIRES = ("plain", "openai")
# what it comes to when the fault happens once, and when it never ends
ONCE = {"401": "refused", "hang": "unavailable"}
ALWAYS = {
    "latency": "done",
    "401": "refused",
    "429": "unavailable",
    "500": "unavailable",
    "reset": "unavailable",
    "hang": "unavailable",
    "bad json": "unavailable",
    "cut": "unavailable",
    "truncation": "malformed",
    "two calls": "malformed",
    "bad arguments": "malformed",
    "empty": "malformed",
}


def slow(step: Step, healthy: Step) -> Step:
    """A late answer is right; all other faults stand for themselves."""
    return step if not step.seconds else Step(healthy.content, healthy.calls, seconds=step.seconds)


def steps_once(fault: str, place: int) -> list[Step]:
    """The healthy conversation with one fault in it."""
    steps = list(HEALTHY)
    if fault == "latency":
        steps[place] = slow(FAULTS[fault], steps[place])
    elif fault in ONCE:
        steps[place:] = [FAULTS[fault]]
    else:
        steps.insert(place, FAULTS[fault])
    return steps


def ending(server: ModelServer, wire: str, seen: list[str]) -> tuple[str, float]:
    """Return how a conversation ended, and after how long."""
    agent = agent_of(look(seen), limits=AgentLimits(seconds=DEADLINE))
    began = time.monotonic()
    try:
        end = run(agent, platform_of(server.url, wire=wire)).text
    except AgentStopped as stop:
        end = stop.reason
    return end, time.monotonic() - began


@pytest.mark.timing
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("place", POSITIONS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_survived_or_stops_the_conversation_in_time(fault: str, place: str, wire: str) -> None:
    seen: list[str] = []
    with ModelServer(*steps_once(fault, POSITIONS[place])) as server:
        end, seconds = ending(server, wire, seen)

    assert end == ONCE.get(fault, "done")
    assert seconds < DEADLINE + GRACE
    assert seen == ["a", "b", "c"][: POSITIONS[place] if fault in ONCE else 3]


@pytest.mark.timing
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_never_ends_stops_the_conversation_in_time(fault: str, wire: str) -> None:
    seen: list[str] = []
    forever = slow(FAULTS[fault], says("done"))
    with ModelServer(calls("look", at="a"), forever=forever) as server:
        end, seconds = ending(server, wire, seen)

    assert end == ALWAYS[fault]
    assert seconds < DEADLINE + GRACE
    assert seen == ["a"]


@pytest.mark.parametrize("wire", WIRES)
def test_many_conversations_in_one_loop_do_not_disturb_each_other(wire: str) -> None:
    async def all_of_them(server: ModelServer) -> list[str]:
        platform = platform_of(server.url, wire=wire)

        async def one(number: int) -> str:
            agent = agent_of(look([]))
            return (await drive_async(run_task(agent, f"number {number}"), AgentWorld(platform, agent.tools))).text

        return await asyncio.gather(*map(one, range(40)))

    with ModelServer(forever=says("done")) as server:
        assert asyncio.run(all_of_them(server)) == ["done"] * 40


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("fault", ["401", "429", "500", "reset", "hang", "bad json", "cut"])
def test_the_asyncio_driver_meets_faults_the_same_way(fault: str, wire: str) -> None:
    async def converse(server: ModelServer) -> str:
        agent = agent_of(look([]), limits=AgentLimits(seconds=2))
        try:
            world = AgentWorld(platform_of(server.url, wire=wire), agent.tools)
            return (await drive_async(run_task(agent, "Do it."), world)).text
        except AgentStopped as stop:
            return stop.reason

    with ModelServer(FAULTS[fault], *(() if fault in ONCE else (says("done"),))) as server:
        assert asyncio.run(converse(server)) == ONCE.get(fault, "done")
