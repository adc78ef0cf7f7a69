"""The limits of a conversation, from the settings."""

from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.settings import Settings


def agent_limits_of(settings: Settings) -> AgentLimits:
    """Return the limits of a conversation."""
    agent = settings.agent
    return AgentLimits(
        rounds=agent.rounds,
        tokens=agent.tokens,
        cost=agent.cost,
        seconds=agent.seconds,
        filter_above=agent.filter_above,
        output_tokens=agent.output_tokens,
        reminder_rounds=settings.tool_reminder_rounds,
    )
