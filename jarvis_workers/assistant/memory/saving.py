"""Ask the model to save memories at the end of a task, before its history is cleared, and at an interrupt.

It is asked once a task and outside the session, so that the history stays as it is.  A failure changes nothing.
"""

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from pydantic import BaseModel, ConfigDict

from jarvis_workers.agents.loop import events
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Note, RunTool
from jarvis_workers.agents.loop.events import BEFORE_ADDON_PROMPT
from jarvis_workers.agents.loop.loop import BadReply, read_calls, run_call, run_task
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.loop.report import ReportForm, Way
from jarvis_workers.agents.loop.untrusted_text import Guard
from jarvis_workers.agents.tools.tool import BadCall, Tool, ToolOutcome
from jarvis_workers.assistant.memory.entry import Content, MemoryBook, MemoryGroup, MemoryType, Tags
from jarvis_workers.assistant.memory.tools import LIST_TAGS, RETRIEVE, SAVE, memory_tags
from jarvis_workers.errors import AgentStopped, UsageError
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.models.platforms.protocol import Message, Reply

# The part of the addon prompt about memory: what each level is for, and the tags in use, which are untrusted.

FOLDER = Path(__file__).parent / "prompts"


def add_guidance(agent: Agent, types: Collection[MemoryType]) -> None:
    """Add the guidance to the prompt of each task; `memory_tags` must be among the hidden tools of the conversation."""
    agent.add_hook(BEFORE_ADDON_PROMPT, partial(guidance, types=types))


def use_memory(agent: Agent, book: MemoryBook, *, force_save: bool = False) -> list[Tool]:
    """Let the agent use memories, and with `force_save` save some; return the hidden tools of its conversation."""
    add_guidance(agent, book.types)
    if force_save:
        add_saving(agent)
    return [memory_tags(book)]


def guidance(agent: Agent, types: Collection[MemoryType]) -> Conversation[str]:
    """Return the guidance for the levels in `types`; empty without memory tools, and after a session's first task."""
    if agent.session.task:
        return ""
    can_save, can_retrieve = (name in agent.tools.names for name in (SAVE, RETRIEVE))
    tags = (yield from _tags(agent)) if can_retrieve else ""
    return fill_from(FOLDER, "guidance", can_save=can_save, can_retrieve=can_retrieve, types=types, tags=tags)


def _tags(agent: Agent) -> Conversation[str]:
    # The tool's result is in the transcript, so that a conversation resumes with the same prompt.
    outcome: ToolOutcome = yield RunTool(LIST_TAGS, {})
    if not outcome.success:
        yield Note("tags of memories cannot be listed", {"agent": agent.name, "says": outcome.stderr})
    return agent.guard.admit(outcome.stdout) if outcome.success and outcome.stdout else ""


# Let a model merge a group of entries into one, given between <merged_memory> tags or by a JSON schema.

TAG = "merged_memory"


class MergedMemory(BaseModel):
    """The text and the tags of a merged entry, as the model gives them."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)
    content: Content
    tags: Tags


class MergedForm(ReportForm):
    """The form of the answer: by schema where the model has schemas, otherwise between tags; never by a tool."""

    def __init__(self) -> None:
        super().__init__(MergedMemory, tag=TAG)

    def way(self, profile: Profile, *, has_tools: bool) -> Way:
        return "schema" if profile.schemas == "json_schema" else "tags"


def merge_group(agent: Agent, group: MemoryGroup) -> Conversation[MergedMemory]:
    """Return the merged memory; `agent` has a MergedForm. Raises AgentStopped, and UsageError for a suspicious text."""
    question = _question(agent.guard, group)
    masked = [suspicion for suspicion in agent.guard.suspicions if suspicion.level == "block"]
    if masked:
        raise UsageError(f"looks like an instruction to a model ({masked[0].rule}), and is not merged; read it first")
    result = yield from run_task(agent, question)
    return cast(MergedMemory, result.report)


def _question(guard: Guard, group: MemoryGroup) -> str:
    texts = [
        (f"{entry.changed_at:%Y-%m-%d %H:%M}", guard.admit(f"tags: {', '.join(entry.tags)}\n{entry.content}"))
        for entry in group.entries
    ]
    return fill_from(FOLDER, "merge", texts=texts)


# The key in `session.user_data`, which has the seeds' name.
PROMPTED = "__memory_save_prompted__"
TRIES = 2


def add_saving(agent: Agent) -> None:
    """Save memories at the events that the seeds name (force_save_memory)."""
    agent.add_hook(events.TASK_STARTED, _begin)
    for event in (events.BEFORE_HISTORY_CLEAR, events.TASK_COMPLETED, events.INTERRUPT_TRIGGERED):
        agent.add_hook(event, save_memories)


def save_memories(agent: Agent) -> Conversation[str]:
    """Ask the model to save memories, unless it was asked in this task or cannot save any. Returns no text."""
    user_data = agent.session.user_data
    if SAVE not in agent.tools.names or user_data.get(PROMPTED):
        return ""
    user_data[PROMPTED] = True
    try:
        problem = yield from _ask(agent)
    except AgentStopped as stop:
        problem = str(stop)
    if problem:
        yield Note("memories were not saved", {"agent": agent.name, "says": problem})
    return ""


def _begin(agent: Agent) -> Conversation[str]:
    agent.session.user_data.pop(PROMPTED, None)
    yield from ()
    return ""


def _ask(agent: Agent) -> Conversation[str]:
    """Ask up to TRIES times; return why nothing was saved, empty if there was nothing to save."""
    problem = ""
    for _ in range(TRIES):
        prompt = fill_from(FOLDER, "save", call=agent.call_tags, problem=problem)
        request = agent.request()
        asks = (*request.messages, Message("user", prompt))
        reply = yield from agent.ask(prompt, replace(request, messages=asks, schema=None, estimated=0))
        try:
            return (yield from _save(agent, reply))
        except (BadReply, BadCall) as error:
            problem = str(error)
    return problem


def _save(agent: Agent, reply: Reply) -> Conversation[str]:
    calls = read_calls(agent, reply)
    if not calls:
        return ""
    if calls[0].name != SAVE:
        raise BadCall(f"call {SAVE}, or answer NONE; no other tool was run")
    outcome = yield from run_call(agent, SAVE, agent.tools.read(SAVE, calls[0].arguments))
    return "" if outcome.success else outcome.stderr
