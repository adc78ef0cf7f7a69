"""The part of the addon prompt about memory: what each level is for, and the tags in use, which are untrusted."""

from collections.abc import Collection
from functools import partial
from pathlib import Path

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Note, RunTool
from jarvis_workers.agents.loop.events import BEFORE_ADDON_PROMPT
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.assistant.memory.entry import MemoryType
from jarvis_workers.assistant.memory.tools import LIST_TAGS, RETRIEVE, SAVE

FOLDER = Path(__file__).parent / "prompts"


def add_guidance(agent: Agent, types: Collection[MemoryType]) -> None:
    """Add the guidance to the prompt of each task; `memory_tags` must be among the hidden tools of the conversation."""
    agent.add_hook(BEFORE_ADDON_PROMPT, partial(guidance, types=types))


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
