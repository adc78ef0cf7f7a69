"""The driver of conversations: perform effects (model requests, tool calls, notifications) and record the results.

No effect is performed twice: recorded results are replayed from the transcript, and listeners are notified only of new
events. The exception are tools whose effect is on a scratch copy, which is empty when a conversation resumes.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar, cast

from jarvis_workers.agents.loop.effects import Answer, Ask, Conversation, Note, RunTool, Tell, Upload, Want
from jarvis_workers.agents.loop.events import EventBus
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.agents.loop.transcript import Transcript
from jarvis_workers.agents.tools.tool import Toolbox, ToolOutcome
from jarvis_workers.errors import ModelError, UsageError
from jarvis_workers.models.platforms.protocol import OnText, Platform
from jarvis_workers.telemetry import warning

T = TypeVar("T")


class Files(Protocol):
    """A provider that stores uploaded files."""

    def upload(self, text: str) -> bool:
        """Upload a text and return whether that succeeded."""


@dataclass(frozen=True)
class AgentWorld:
    """The environment in which the effects of a conversation are performed.

    While an untimed tool runs, `pause_deadline` is entered. `on_text` receives the answers of the session as a stream.
    """

    platform: Platform
    tools: Toolbox
    transcript: Transcript | None = None
    bus: EventBus = field(default_factory=EventBus)
    files: Files | None = None
    pause_deadline: Callable[[], AbstractContextManager[None]] = nullcontext
    on_text: OnText | None = None


async def drive_async(talk: Conversation[T], world: AgentWorld) -> T:
    """Drive a conversation to its end in an event loop, and return its result or raise its exception."""
    try:
        want = next(talk)
        while True:
            try:
                answer = await perform_async(want, world)
            except ModelError as error:
                want = talk.throw(error)
            else:
                want = talk.send(answer)
    except StopIteration as end:
        return cast(T, end.value)


async def perform_async(want: Want, world: AgentWorld) -> Answer:
    """Perform one effect and return its result; raises ModelError."""
    if isinstance(want, Tell) and world.bus.has_listeners(want.event):
        # Listeners are user-defined code, which may block.
        return (await in_thread(_recorded, want, world))[1]
    is_answered, answer = _recorded(want, world)
    if is_answered:
        if isinstance(want, RunTool) and world.tools.is_replayed(want.name):
            await in_thread(_repeat, want, world.tools, answer)
        return answer
    record = world.transcript
    if record and _begins(want, record):
        await record.sync_async()
    if isinstance(want, Ask):
        on_text = None if want.aside else world.on_text
        answer = await world.platform.ask_async(replace(want.request, on_text=on_text) if on_text else want.request)
    elif isinstance(want, RunTool) and want.quick:
        answer = _do(want, world)
    else:
        with world.pause_deadline() if isinstance(want, RunTool) and want.untimed else nullcontext():
            answer = await in_thread(_do, want, world)
    if record:
        record.add(want, answer)
        await record.sync_async()
    return answer


def _begins(want: Want, record: Transcript) -> bool:
    """Record the start of a tool that must not run twice, and return whether a record was added."""
    if not isinstance(want, RunTool) or want.repeatable:
        return False
    record.add_call(want)
    return True


def _do(want: Want, world: AgentWorld) -> ToolOutcome | bool:
    if isinstance(want, Upload):
        return world.files is not None and world.files.upload(want.text)
    assert isinstance(want, RunTool)
    return _run(want, world.tools)


def _recorded(want: Want, world: AgentWorld) -> tuple[bool, Answer]:
    """Return whether an effect needs no further action, and its result in that case."""
    if isinstance(want, Tell | Note):
        if world.transcript is None or not world.transcript.is_replaying:
            _pass_on(want, world)
        return True, None
    offset = world.transcript.find(want) if world.transcript else None
    return offset is not None, offset


def _repeat(want: RunTool, tools: Toolbox, recorded: ToolOutcome) -> None:
    """Run a recorded call again; raises UsageError if it ends otherwise, since its scratch copy is another one then."""
    outcome = tools.repeat(want.name, want.arguments)
    if (outcome.state, outcome.stdout, outcome.stderr) != (recorded.state, recorded.stdout, recorded.stderr):
        raise UsageError(f"the transcript does not match the files: {want.name} was {recorded.state}: {outcome.text()}")


def _pass_on(want: Tell | Note, world: AgentWorld) -> None:
    if isinstance(want, Tell):
        world.bus.emit(want.event, **want.payload)
    else:
        warning(want.event, **want.facts)


def _run(want: RunTool, tools: Toolbox) -> ToolOutcome:
    began = time.monotonic()
    outcome = tools.run(want.name, want.arguments)
    return replace(outcome, seconds=round(time.monotonic() - began, 3))
