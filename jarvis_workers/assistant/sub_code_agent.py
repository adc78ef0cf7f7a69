"""sub_code_agent: give a part of a change to another agent over the same working copy, with a history of its own.

The conversation runs the child itself, between two requests of the parent, so that one transcript records both. A child
has the tools of its parent but this one, at most what is left of its limits, and what it uses counts for its parent.
"""

from dataclasses import replace
from typing import Any, TypeVar

from pydantic import Field

from jarvis_workers.agent.agent import Agent
from jarvis_workers.agent.effects import Conversation, RunTool
from jarvis_workers.agent.limits import AgentLimits
from jarvis_workers.agent.loop import run_task
from jarvis_workers.assistant.planning import MakeChild
from jarvis_workers.errors import AgentStopped, ModelError
from jarvis_workers.tools.tool import Tool, ToolArguments, ToolFailed, ToolOutcome, typed

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


def with_children(agent: Agent, talk: Conversation[T], make_child: MakeChild) -> Conversation[T]:
    """Return a conversation in which the calls of sub_code_agent run as conversations of children."""
    try:
        want = next(talk)
        while True:
            try:
                answer: Any = (
                    (yield from _run_child(agent, str(want.arguments["task"]), make_child))
                    if isinstance(want, RunTool) and want.name == SUB_CODE_AGENT
                    else (yield want)
                )
            except ModelError as error:
                want = talk.throw(error)
            else:
                want = talk.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


def _run_child(parent: Agent, task: str, make_child: MakeChild) -> Conversation[ToolOutcome]:
    """Run a part of the task; a child that stops is a failed call."""
    child = make_child(replace(parent.about, name=SUB_CODE_AGENT), _limits_left(parent))
    try:
        result = yield from run_task(child, task)
        return ToolOutcome(stdout=result.text)
    except AgentStopped as stop:
        return ToolOutcome("failed", stderr=f"it stopped ({stop.reason}): {stop}; its edits so far are made")
    finally:
        _add_usage(parent, child)


def _limits_left(parent: Agent) -> AgentLimits:
    limits, spent = parent.limits, parent.spent
    return replace(
        limits,
        rounds=limits.rounds - spent.asks,
        tokens=None if limits.tokens is None else limits.tokens - spent.usage.total,
        cost=None if limits.cost is None else limits.cost - spent.cost,
        seconds=limits.seconds - spent.seconds,
        retries=max(limits.retries - spent.retries, 0),
    )


def _add_usage(parent: Agent, child: Agent) -> None:
    spent, more = parent.spent, child.spent
    spent.asks += more.asks
    spent.retries += more.retries
    spent.usage += more.usage
    spent.cost += more.cost
    spent.seconds += more.seconds
    parent.executed.update(child.executed)
    parent.guard.suspicions.extend(child.guard.suspicions)
