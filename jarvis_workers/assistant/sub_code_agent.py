"""sub_code_agent: give a part of a change to another agent over the same working copy, with a history of its own.

The conversation runs the child itself, between two requests of the parent, so that one transcript records both. A child
has the tools of its parent but this one, at most what is left of its limits, and what it uses counts for its parent.
"""

from dataclasses import replace
from typing import Any, TypeVar

from pydantic import Field

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, RunTool, Want, intercept
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.tools.tool import Tool, ToolArguments, ToolFailed, ToolOutcome, typed
from jarvis_workers.assistant.children import count_child, limits_left
from jarvis_workers.assistant.planning import MakeChild
from jarvis_workers.errors import AgentStopped

SUB_CODE_AGENT = "sub_code_agent"
TASK_MAX = 100_000
DESCRIPTION = "Give a separable part of the task to another engineer, who edits the same files. Describe it completely."

T = TypeVar("T")


class SubTask(ToolArguments):
    """The part of the task."""

    task: str = Field(min_length=1, max_length=TASK_MAX)


def sub_code_tool() -> Tool:
    """Return the tool; `with_children` runs its calls."""

    def run(_: SubTask) -> ToolOutcome:
        raise ToolFailed(f"{SUB_CODE_AGENT} runs only within a conversation")

    return typed(SubTask, run, name=SUB_CODE_AGENT, description=DESCRIPTION, brings_foreign=True)


def make_child(parent: Agent) -> MakeChild:
    """Return the function that creates a child with the tools of its parent, but those that create children."""
    names = [name for name in parent.tools.names if name != SUB_CODE_AGENT]

    def make(about: Definition, limits: AgentLimits) -> Agent:
        tools = parent.tools.only(names)
        return Agent(about, tools, profile=parent.profile, marks=parent.marks, limits=limits)

    return make


def with_children(agent: Agent, talk: Conversation[T], make_child: MakeChild) -> Conversation[T]:
    """Return a conversation in which the calls of sub_code_agent run as conversations of children."""

    def perform(want: Want) -> Conversation[Any]:
        if isinstance(want, RunTool) and want.name == SUB_CODE_AGENT:
            return (yield from _run_child(agent, str(want.arguments["task"]), make_child))
        return (yield want)

    return intercept(talk, perform)


def _run_child(parent: Agent, task: str, make_child: MakeChild) -> Conversation[ToolOutcome]:
    """Run a part of the task; a child that stops is a failed call."""
    child = make_child(replace(parent.about, name=SUB_CODE_AGENT), limits_left(parent))
    try:
        result = yield from run_task(child, task)
        return ToolOutcome(stdout=result.text)
    except AgentStopped as stop:
        return ToolOutcome("failed", stderr=f"it stopped ({stop.reason}): {stop}; its edits so far are made")
    finally:
        count_child(parent, child)
