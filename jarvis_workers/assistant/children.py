"""Sub-agents share what their parent may use: they get what is left of it, and what they use counts for the parent."""

from dataclasses import replace

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.limits import AgentLimits


def limits_left(parent: Agent) -> AgentLimits:
    """Return what is left of an agent's limits; at least one model call and one token, so that each says what ends."""
    limits, spent = parent.limits, parent.spent
    return replace(
        limits,
        rounds=max(limits.rounds - spent.asks, 1),
        tokens=None if limits.tokens is None else max(limits.tokens - spent.usage.total, 1),
        cost=None if limits.cost is None else max(limits.cost - spent.cost, 0.0),
        seconds=max(limits.seconds - spent.seconds, 0.0),
        retries=max(limits.retries - spent.retries, 0),
    )


def count_child(parent: Agent, child: Agent) -> None:
    """Count the usage, the tool calls and the suspicions of a sub-agent for its parent."""
    spent, more = parent.spent, child.spent
    spent.asks += more.asks
    spent.retries += more.retries
    spent.usage += more.usage
    spent.cost += more.cost
    spent.unpriced += more.unpriced
    spent.seconds += more.seconds
    parent.executed.update(child.executed)
    parent.guard.suspicions += child.guard.suspicions
