"""Teams for tests, and their runs on a model server."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.drivers import AgentWorld
from jarvis_workers.agents.loop.effects import Definition
from jarvis_workers.agents.loop.events import EventBus
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.output_handler import OutputHandler
from jarvis_workers.agents.tools.tool import Tool, Toolbox
from jarvis_workers.assistant.team import Team, TeamResult
from jarvis_workers.assistant.team_definition import TeamDefinition
from tests.agents.loop.arrange import MARKS, NATIVE, drive, platform_of
from tests.agents.loop.server import Body, ModelServer

QUESTION = "Is lib/a.c safe?"


def message(to: str, content: str) -> str:
    """Return an answer that sends a message."""
    lines = "\n".join(f"  {line}" for line in content.split("\n"))
    return f"My message:\n<SEND_MESSAGE>\nto: {to}\ncontent: |2\n{lines}\n</SEND_MESSAGE>"


def team_of(*agents: dict[str, Any], main: str = "lead", **about: Any) -> TeamDefinition:
    """Return a team whose agents send no summaries unless they say so."""
    members = [{"summary_on_send": False, "system_prompt": f"I am {one['name']}.", **one} for one in agents]
    return TeamDefinition.model_validate({"agents": members, "main_agent_name": main, **about})


@dataclass
class TeamRun:
    """A team and its agents in the order in which they were made."""

    team: Team
    result: TeamResult


def run_team(
    definition: TeamDefinition,
    server: ModelServer,
    *tools: Tool,
    limits: AgentLimits | None = None,
    bus: EventBus | None = None,
    handlers: Sequence[OutputHandler] = (),
) -> TeamRun:
    """Let a team work on QUESTION with the model of a server."""
    box = Toolbox(tools)

    def make(about: Definition, names: Sequence[str] | None, own: Sequence[OutputHandler]) -> Agent:
        chosen = box if names is None else box.only(names)
        return Agent(about, chosen, profile=NATIVE, marks=MARKS, limits=limits, handlers=(*own, *handlers))

    team = Team(definition, QUESTION, make)
    world = AgentWorld(platform_of(server.url), box, bus=bus or EventBus())
    return TeamRun(team, drive(team.run(), world))


def system(request: Body) -> str:
    """Return the system prompt of a request."""
    return str(request["messages"][0]["content"])


def last(request: Body) -> str:
    """Return the last message of a request."""
    return str(request["messages"][-1]["content"])
