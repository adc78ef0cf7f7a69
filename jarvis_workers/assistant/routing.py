"""Route an input of a person before the turn: to skills, directly to the agent, or back with a question.

The router sees the names and descriptions of the skills and the last messages, no tools and no memory; the text of a
skill is read only once it is chosen. A router that fails routes directly: it never keeps a task from being done.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation
from jarvis_workers.agents.loop.loop import join_prompts
from jarvis_workers.agents.loop.output import shorten
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.loop.report import BadReport, ReportForm
from jarvis_workers.assistant.system_prompt import PROMPTS
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.protocol import Message

TEMPERATURE = 0.1
LAST_MESSAGES = 6
MESSAGE_TOKENS = 500
SKILLS_MAX = 3


@dataclass(frozen=True)
class SkillMeta:
    """What the router knows of a skill."""

    name: str
    description: str


@dataclass(frozen=True)
class Skills:
    """The skills that help with the input, at most SKILLS_MAX."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Direct:
    """No skill is needed."""


@dataclass(frozen=True)
class NeedClarification:
    """The question to ask before anything is done."""

    question: str


Route = Skills | Direct | NeedClarification


class RouterAnswer(BaseModel):
    """The answer of the router."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    route: Literal["skills", "direct", "clarify"]
    skills: list[str] = Field(default_factory=list, description="names of skills, for the route skills")
    question: str = Field(default="", max_length=2_000, description="one question, for the route clarify")


@cache
def _form() -> ReportForm:
    return ReportForm(RouterAnswer, tag="ROUTE")


def route(agent: Agent, text: str, skills: Sequence[SkillMeta]) -> Conversation[Route]:
    """Return the route of an input. Without skills nothing is asked."""
    if not skills:
        return Direct()
    form = _form()
    way: Literal["schema", "tags"] = "schema" if agent.profile.schemas == "json_schema" else "tags"
    listing = agent.guard.admit("\n".join(f"- {skill.name}: {skill.description}" for skill in skills))
    instructions = join_prompts(form.explain(way), form.describe(way))
    prompt = fill_from(PROMPTS, "routing", agent=agent.name, skills=listing, mark=agent.marks.line, form=instructions)
    request = replace(
        agent.request(),
        messages=(Message("system", prompt), *_recent(agent), Message("user", text)),
        tools=(),
        schema=form.schema if way == "schema" else None,
        turn=0,
        estimated=0,
        temperature=TEMPERATURE,
    )
    try:
        reply = yield from agent.ask(text, request)
        answer: RouterAnswer = form.read_text(reply.content)
    except (AgentStopped, BadReport):
        return Direct()
    return _route_of(answer, {skill.name for skill in skills})


def _recent(agent: Agent) -> tuple[Message, ...]:
    """Return the last messages as plain text, without tool calls."""
    recent = agent.session.messages[1:][-LAST_MESSAGES:]
    return tuple(
        Message("assistant" if message.role == "assistant" else "user", shorten(message.content, MESSAGE_TOKENS))
        for message in recent
        if message.content
    )


def _route_of(answer: RouterAnswer, available: set[str]) -> Route:
    if answer.route == "clarify" and answer.question.strip():
        return NeedClarification(answer.question.strip())
    names = tuple(dict.fromkeys(name for name in answer.skills if name in available))[:SKILLS_MAX]
    return Skills(names) if answer.route == "skills" and names else Direct()
