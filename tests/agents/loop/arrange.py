"""Shared parts of agent tests: a platform over a scripted server, a tool, an agent, and its run."""

import asyncio
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.drivers import AgentWorld, drive_async
from jarvis_workers.agents.loop.effects import Ask, Conversation, Definition, RunTool, TaskResult
from jarvis_workers.agents.loop.events import EventBus
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.loop.nonces import Marks, make_marks
from jarvis_workers.agents.loop.output_handler import OutputHandler
from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.agents.loop.transcript import Log, Transcript
from jarvis_workers.agents.tools.tool import Tool, ToolArguments, Toolbox, ToolOutcome, typed
from jarvis_workers.models.platforms.profiles import PROFILES, Prices, Profile
from jarvis_workers.models.platforms.protocol import ModelRequest, Platform, Reply, TokenUsage, ToolCall
from jarvis_workers.models.platforms.registry import Clients, Compatible, Sdk, Terms
from jarvis_workers.models.platforms.transport import Wire
from jarvis_workers.models.ratelimit.gate import LocalLimiter
from jarvis_workers.models.ratelimit.policy import Limiter, RequestPermit
from tests.agents.loop.plainwire import PlainWire
from tests.support.servers import missing

NATIVE, TEXT = PROFILES["deepseek"], PROFILES["generic"]
MARKS = make_marks(b"secret", "input")
SLOTS = 1000
T = TypeVar("T")


def drive(conversation: Conversation[T], world: AgentWorld) -> T:
    """Run a conversation to its end in a new event loop."""
    return asyncio.run(drive_async(conversation, world))


def ask(platform: Platform, request: ModelRequest) -> Reply:
    """Ask a platform in a new event loop."""
    return asyncio.run(platform.ask_async(request))


def send(wire: Wire, body: bytes, seconds: float) -> bytes:
    """Send a request in a new event loop."""
    return asyncio.run(wire.send_async(body, seconds))


@contextmanager
def slot(gate: Limiter, seconds: float, tokens: int = 0) -> Iterator[RequestPermit]:
    """Hold a slot during the block, in a thread without an event loop."""
    with asyncio.Runner() as runner:
        waiting = gate.slot(seconds, tokens)
        permit = runner.run(waiting.__aenter__())
        try:
            yield permit
        finally:
            runner.run(waiting.__aexit__(None, None, None))


def wire_to(url: str, kind: str = "plain", api: str = "chat") -> Wire:
    """Return a transport to a server: that of the standard library, or the one that is used in production."""
    if kind == "plain":
        return PlainWire(url, api)
    if importlib.util.find_spec("openai") is None:
        missing("openai")
    return Sdk(Clients(), url, key="key", max_connections=SLOTS, api=api)


def platform_of(
    url: str, *, profile: Profile = NATIVE, wire: str = "plain", prices: Prices | None = None
) -> Compatible:
    """Return a platform that asks a server."""
    terms = Terms(profile, prices or Prices())
    return Compatible("openai", "scripted", wire=wire_to(url, wire, profile.api), gate=LocalLimiter(SLOTS), terms=terms)


class At(ToolArguments):
    """Arguments of the tool `look`."""

    at: str = ""


def look(seen: list[str], says: Callable[[str], str] = str.upper, **about: Any) -> Tool:
    """Return a tool that records its arguments."""

    def run(wanted: At) -> ToolOutcome:
        seen.append(wanted.at)
        return ToolOutcome(stdout=says(wanted.at))

    return typed(At, run, **{"name": "look", "description": "Look.", "quick": True, **about})


def agent_of(
    *tools: Tool,
    profile: Profile = NATIVE,
    limits: AgentLimits | None = None,
    form: ReportForm | None = None,
    handlers: Sequence[OutputHandler] = (),
    marks: Marks = MARKS,
    **about: Any,
) -> Agent:
    """Return an agent with these tools."""
    definition = Definition(system_prompt="Be careful.", **about)
    return Agent(definition, Toolbox(tools), profile=profile, marks=marks, form=form, limits=limits, handlers=handlers)


def run(
    agent: Agent, platform: Platform, *, log: Log | None = None, bus: EventBus | None = None, task: str = "Do it."
) -> TaskResult:
    """Run an agent to its end."""
    transcript = Transcript(log, {"agent": agent.name}) if log is not None else None
    return drive(run_task(agent, task), AgentWorld(platform, agent.tools, transcript, bus or EventBus()))


def answered(
    talk: Conversation[T], answers: Sequence[str], outcomes: Sequence[ToolOutcome] = ()
) -> tuple[T, list[str]]:
    """Run a conversation with these answers and outcomes of its tools; return its result, and each last message."""
    left, runs, seen = list(answers), list(outcomes), list[str]()
    result: Reply | ToolOutcome | None = None
    try:
        while True:
            want = talk.send(result)
            result = None
            if isinstance(want, Ask):
                seen.append(want.request.messages[-1].content)
                result = Reply(left.pop(0), model="m", finish="stop")
            elif isinstance(want, RunTool):
                result = runs.pop(0)
    except StopIteration as end:
        return end.value, seen


class Scripted:
    """A platform that answers from a list; an unused answer fails the test."""

    name, model, profile = "scripted", "scripted", NATIVE

    def __init__(self, *replies: Reply | Exception) -> None:
        self.replies = list(replies)
        self.requests: list[ModelRequest] = []

    async def ask_async(self, request: ModelRequest) -> Reply:
        self.requests.append(request)
        assert self.replies, f"nothing is left to answer {request.messages[-1]}"
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def text(content: str, **about: Any) -> Reply:
    """Return an answer with text only."""
    return Reply(content, **{"finish": "stop", "usage": TokenUsage(100, 20), "seconds": 1.0, **about})


def call(name: str, arguments: str = "{}", **about: Any) -> Reply:
    """Return an answer with one tool call."""
    return Reply(
        "", (ToolCall("c1", name, arguments),), **{"finish": "tool_calls", "usage": TokenUsage(100, 20), **about}
    )


class Lines:
    """A transcript log in memory."""

    def __init__(self, lines: list[bytes] | None = None) -> None:
        self.all = list(lines or [])

    def lines(self) -> list[bytes]:
        return list(self.all)

    def append(self, line: bytes) -> None:
        self.all.append(line)

    async def sync_async(self) -> None:
        pass

    def keep(self, count: int) -> None:
        del self.all[count:]


class Kept:
    """An answer cache in memory."""

    def __init__(self) -> None:
        self.all: dict[str, str] = {}

    def find(self, key: str) -> str | None:
        return self.all.get(key)

    def put(self, key: str, text: str) -> None:
        self.all.setdefault(key, text)

    def forget(self, key: str) -> None:
        self.all.pop(key, None)


def heard(bus: EventBus, *events: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return a list to which the payloads of these events are appended."""
    told: list[tuple[str, Mapping[str, Any]]] = []

    def listen(event: str) -> None:
        bus.subscribe(event, lambda **payload: told.append((event, payload)))

    for event in events:
        listen(event)
    return told
