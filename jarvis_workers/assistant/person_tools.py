"""Tools that the conversation itself performs (`turns`): ask_user, which asks the person, and sub_agent.

A sub-agent works on a task with some of its parent's tools, within what is left of its parent's limits. It asks nobody,
and at a depth of 2 it has no sub-agents of its own.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Definition, TaskResult
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.prompts import fill
from jarvis_workers.agents.tools.tool import Tool, ToolArguments, Toolbox, ToolOutcome, typed
from jarvis_workers.assistant.children import limits_left
from jarvis_workers.assistant.planning import plan_and_run

ASK_USER, SUB_AGENT = "ask_user", "sub_agent"
DEPTH_MAX = 2
TEXT_MAX = 100_000


class AskUser(ToolArguments):
    """A question for the person."""

    question: str = Field(min_length=1, max_length=4_000, description="one question, as short as possible")


class SubAgent(ToolArguments):
    """A task for a sub-agent, and what it should know."""

    task: str = Field(min_length=1, max_length=TEXT_MAX, description="the whole task; it sees nothing else")
    name: str = Field(default="", max_length=60, description="a short name")
    background: str = Field(default="", max_length=TEXT_MAX, description="what it should know")


def ask_user() -> Tool:
    """Return the tool that asks the person; where nobody is there, a call fails."""

    def run(_: AskUser) -> ToolOutcome:
        return ToolOutcome("error", stderr="nobody can be asked")

    description = "Ask the user a question, only where the task cannot be decided without an answer."
    return typed(AskUser, run, name=ASK_USER, description=description, repeatable=False)


def sub_agent() -> Tool:
    """Return the tool that gives a task to a sub-agent."""

    def run(_: SubAgent) -> ToolOutcome:
        return ToolOutcome("error", stderr="there are no sub-agents here")

    description = "Give a separable part of the task to a sub-agent with the same tools; its answer is the result."
    return typed(SubAgent, run, name=SUB_AGENT, description=description, brings_foreign=True, repeatable=False)


def make_child(parent: Agent, arguments: Mapping[str, Any], depth: int) -> Agent:
    """Return the sub-agent for a call of `sub_agent`."""
    without = {ASK_USER, *([SUB_AGENT] if depth >= DEPTH_MAX else [])}
    name = str(arguments.get("name") or f"{parent.name}-{depth}")
    background = str(arguments.get("background", ""))
    prompt = fill("task", agent=name) + (f"\n\n# Background\n\n{background}" if background else "")
    definition = Definition(system_prompt=prompt, name=name, language=parent.about.language)
    tools = Toolbox(tool for tool in parent.tools.tools if tool.name not in without)
    return Agent(definition, tools, profile=parent.profile, marks=parent.marks, limits=limits_left(parent))


def run_planned(agent: Agent, task: str) -> Conversation[TaskResult]:
    """Run a task, split into sub-tasks if the model says so; their agents cannot ask the person."""

    def make(about: Definition, limits: AgentLimits) -> Agent:
        tools = Toolbox(tool for tool in agent.tools.tools if tool.name != ASK_USER)
        return Agent(about, tools, profile=agent.profile, marks=agent.marks, limits=limits)

    return (yield from plan_and_run(agent, task, make_child=make))
