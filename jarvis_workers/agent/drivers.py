"""Do what a conversation wants: ask its platform, run its tools, tell its listeners, record what came of it.

Two drivers, of which one waits and one lets others run meanwhile. Nothing is told twice: what the transcript knows is
sent to the loop, and listeners hear only what is new.
"""

import time
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar, cast

from jarvis_workers.agent.effects import Answer, Ask, Conversation, Note, RunTool, Tell, Upload, Want
from jarvis_workers.agent.events import EventBus
from jarvis_workers.agent.threads import in_thread
from jarvis_workers.agent.transcript import Transcript
from jarvis_workers.errors import ModelError
from jarvis_workers.platforms.protocol import Hear, Platform
from jarvis_workers.telemetry import warning
from jarvis_workers.tools.registry import Toolbox
from jarvis_workers.tools.tool import ToolOutcome

T = TypeVar("T")


class Files(Protocol):
    """A provider that keeps files."""

    def upload(self, text: str) -> bool:
        """Return whether it worked."""
        ...


@dataclass(frozen=True)
class AgentWorld:
    """What a conversation meets."""

    platform: Platform
    tools: Toolbox
    transcript: Transcript | None = None
    bus: EventBus = field(default_factory=EventBus)
    hear: Hear | None = None
    files: Files | None = None


def drive(talk: Conversation[T], world: AgentWorld) -> T:
    """Lead a conversation to its end, and wait for everything; raises what ends it."""
    try:
        want = next(talk)
        while True:
            try:
                answer = _answer(want, world)
            except ModelError as error:
                want = talk.throw(error)
            else:
                want = talk.send(answer)
    except StopIteration as end:
        return cast(T, end.value)


async def drive_async(talk: Conversation[T], world: AgentWorld) -> T:
    """Lead a conversation to its end among others in one loop; raises what ends it."""
    try:
        want = next(talk)
        while True:
            try:
                answer = await _answer_async(want, world)
            except ModelError as error:
                want = talk.throw(error)
            else:
                want = talk.send(answer)
    except StopIteration as end:
        return cast(T, end.value)


def _answer(want: Want, world: AgentWorld) -> Answer:
    known, answer = _known(want, world)
    if known:
        return answer
    record = world.transcript
    if record and _begins(want, record):
        record.sync()
    answer = world.platform.ask(want.request, world.hear) if isinstance(want, Ask) else _do(want, world)
    if record:
        record.add(want, answer)
        record.sync()
    return answer


async def _answer_async(want: Want, world: AgentWorld) -> Answer:
    if isinstance(want, Tell) and world.bus.is_heard(want.event):
        # Listeners are users' own code, which may wait for something.
        return (await in_thread(_known, want, world))[1]
    known, answer = _known(want, world)
    if known:
        return answer
    record = world.transcript
    if record and _begins(want, record):
        await record.sync_async()
    if isinstance(want, Ask):
        answer = await world.platform.ask_async(want.request)
    elif isinstance(want, RunTool) and want.quick:
        answer = _do(want, world)
    else:
        answer = await in_thread(_do, want, world)
    if record:
        record.add(want, answer)
        await record.sync_async()
    return answer


def _begins(want: Want, record: Transcript) -> bool:
    """Record the start of what may not run twice; whether there is something to wait for then."""
    if not isinstance(want, RunTool) or want.repeatable:
        return False
    record.add_call(want)
    return True


def _do(want: Want, world: AgentWorld) -> ToolOutcome | bool:
    if isinstance(want, Upload):
        return world.files is not None and world.files.upload(want.text)
    assert isinstance(want, RunTool)
    return _run(want, world.tools)


def _known(want: Want, world: AgentWorld) -> tuple[bool, Answer]:
    """Return whether there is nothing to do for it, and what the conversation is sent then."""
    if isinstance(want, Tell | Note):
        if world.transcript is None or not world.transcript.is_replaying:
            _pass_on(want, world)
        return True, None
    found = world.transcript.find(want) if world.transcript else None
    return found is not None, found


def _pass_on(want: Tell | Note, world: AgentWorld) -> None:
    if isinstance(want, Tell):
        world.bus.emit(want.event, **want.payload)
    else:
        warning(want.event, **want.facts)


def _run(want: RunTool, tools: Toolbox) -> ToolOutcome:
    began = time.monotonic()
    outcome = tools.run(want.name, want.arguments)
    return replace(outcome, seconds=round(time.monotonic() - began, 3))
