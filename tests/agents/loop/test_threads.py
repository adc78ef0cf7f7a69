"""What may take long: in a thread, whose outcome comes back, and whom nobody waits for in the end."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from jarvis_workers.agents.loop.drivers import AgentWorld, drive_async
from jarvis_workers.agents.loop.effects import Conversation, RunTool
from jarvis_workers.agents.loop.events import AFTER_TOOL_CALL, EventBus
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.agents.tools.tool import Tool, Toolbox, ToolOutcome
from tests.agents.loop.arrange import Scripted, agent_of, call, drive, look, text

pytestmark = pytest.mark.timing

SECONDS = 10.0
ENDS = """
import asyncio, threading
from jarvis_workers.agents.loop.threads import in_thread

async def main():
    asyncio.get_running_loop().call_later(0.1, task.cancel) if (task := asyncio.current_task()) else None
    await in_thread(threading.Event().wait)

try:
    asyncio.run(main())
except asyncio.CancelledError:
    print("called off")
"""


def test_what_it_returns_and_raises_comes_back() -> None:
    async def both() -> None:
        assert await in_thread(sorted, "ba") == ["a", "b"]
        with pytest.raises(KeyError, match="nothing"):
            await in_thread({}.__getitem__, "nothing")
        with pytest.raises(SystemExit):
            await in_thread(sys.exit, 3)

    asyncio.run(both())


def test_as_many_run_at_once_as_are_wanted() -> None:
    meeting = threading.Barrier(50)

    async def meet() -> list[int]:
        return await asyncio.gather(*(in_thread(meeting.wait, SECONDS) for _ in range(50)))

    assert sorted(asyncio.run(meet())) == list(range(50))


def test_who_is_called_off_does_not_hear_of_what_comes_later() -> None:
    goes_on, over = threading.Event(), threading.Event()

    def wait() -> None:
        goes_on.wait()
        over.set()

    async def call_off() -> None:
        waiting = asyncio.create_task(in_thread(wait))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(call_off())
    goes_on.set()

    assert over.wait(SECONDS)


def test_an_untimed_tool_pauses_the_deadline() -> None:
    events: list[str] = []

    @contextmanager
    def pause() -> Iterator[None]:
        events.append("pause")
        yield
        events.append("continue")

    def run(arguments: Mapping[str, Any]) -> ToolOutcome:
        events.append(str(arguments["name"]))
        return ToolOutcome()

    def conversation() -> Conversation[None]:
        yield RunTool("look", {"name": "timed"})
        yield RunTool("look", {"name": "untimed"}, untimed=True)

    tools = Toolbox([Tool("look", "Look.", {}, lambda arguments: arguments, run)])
    drive(conversation(), AgentWorld(Scripted(), tools, pause_deadline=pause))
    assert events == ["timed", "pause", "untimed", "continue"]


def test_a_process_ends_although_a_thread_does_not() -> None:
    began = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=240, check=False)

    assert (ended.stdout, ended.stderr) == ("called off\n", "")
    assert time.monotonic() - began < SECONDS


def test_a_listener_that_waits_holds_up_no_other_conversation() -> None:
    meeting, bus = threading.Barrier(2), EventBus()
    bus.subscribe(AFTER_TOOL_CALL, lambda **_: meeting.wait(SECONDS))

    async def converse() -> Any:
        agent = agent_of(look([]))
        return await drive_async(
            run_task(agent, "Do it."), AgentWorld(Scripted(call("look"), text("done")), agent.tools, bus=bus)
        )

    async def both() -> list[Any]:
        return await asyncio.gather(converse(), converse())

    assert [result.text for result in asyncio.run(both())] == ["done", "done"]
    assert not meeting.broken
