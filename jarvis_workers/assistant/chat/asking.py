"""Agents outside of runs: their requests go to a model group directly, without answer cache, budget or transcript.

Rate limits and retries are those of a run, and each conversation has the limits of the settings.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from secrets import token_bytes
from typing import TypeVar

from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.drivers import AgentWorld, drive_async
from jarvis_workers.agents.loop.effects import Conversation, Definition
from jarvis_workers.agents.loop.limits import AgentLimits, AgentUsage
from jarvis_workers.agents.loop.nonces import make_marks
from jarvis_workers.agents.loop.report import ReportForm
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.models.platforms.protocol import Platform
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.models import model_facts, model_name
from jarvis_workers.settings import Settings
from jarvis_workers.words import cost_text

# A question and the repeated requests for a readable answer.
ROUNDS = 4

T = TypeVar("T")


class DirectModel:
    """A model group that agents of this process ask, one after the other."""

    def __init__(self, platform: Platform, limits: AgentLimits, runner: asyncio.Runner) -> None:
        self.platform = platform
        self._limits, self._runner = limits, runner
        self._spent: list[AgentUsage] = []

    @property
    def spent(self) -> str:
        """What all conversations so far have used, for users."""
        asks, tokens = sum(one.asks for one in self._spent), sum(one.usage.total for one in self._spent)
        costs = [one.dollars for one in self._spent]
        cost = None if None in costs else sum(filter(None, costs))
        return f"{asks:,} {'answer' if asks == 1 else 'answers'}, {tokens:,} tokens, {cost_text(cost)}"

    def questioner(self, system_prompt: str, form: ReportForm) -> Agent:
        """Return an agent without tools for one question, whose answer is a report; its marks are random."""
        agent = Agent(
            Definition(system_prompt),
            Toolbox(),
            profile=self.platform.profile,
            marks=make_marks(token_bytes(32), ""),
            form=form,
            limits=replace(self._limits, rounds=ROUNDS),
        )
        self._spent.append(agent.spent)
        return agent

    def drive(self, talk: Conversation[T], tools: Toolbox) -> T:
        """Drive a conversation to its end; raises AgentStopped."""
        return self._runner.run(drive_async(talk, AgentWorld(self.platform, tools)))


@contextmanager
def open_model(settings: Settings, group: str | None) -> Iterator[DirectModel]:
    """Open a model group, by default that of the settings. Raises SettingsError and UsageError."""
    name = model_name(settings, group)
    setup = setup_of(model_facts(settings), settings.data_dir / "cache")
    platform = setup.providers.open(setup.groups[name])
    with asyncio.Runner() as runner:
        yield DirectModel(platform, agent_limits_of(settings), runner)
