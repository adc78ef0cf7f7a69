"""The answer of a run that gives agents one task: the artifact that its only job commits."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from jarvis_workers.agents.conversations.conversation import JobConversation
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.errors import AgentStopped
from jarvis_workers.store.values import Commit

ANSWER = "answer"
TASK = b"task"


def commit_answer(
    talk: JobConversation, agents: Sequence[Agent], tier: str, text: str, stopped: AgentStopped | None, **more: Any
) -> Commit:
    """Return the commit of a conversation: its answer, or the reason why there is none, and `more` facts about it.

    The agents share their usage and guard. Values that differ between identical conversations are under `run`.
    """
    spent, guard = agents[0].spent, agents[0].guard
    outcome = {
        "state": "stopped" if stopped else "done",
        "text": text,
        "stopped": {"reason": stopped.reason, "says": str(stopped)} if stopped else None,
        "tools": dict(sum((agent.executed for agent in agents), Counter[str]())),
        "suspicions": [asdict(suspicion) for suspicion in guard.suspicions],
        "rounds": spent.asks,
        **more,
        "run": run_facts(talk, agents[0], tier),
    }
    return Commit(
        files=1,
        not_checked=((TASK, f"stopped: {stopped.reason}: {stopped}"),) if stopped else (),
        artifacts=((ANSWER, json.dumps(outcome).encode()),),
    )


def run_facts(talk: JobConversation, agent: Agent, tier: str) -> dict[str, Any]:
    """Return what differs between identical conversations."""
    spent = agent.spent
    return {
        "model": talk.platform.model,
        "sandbox": tier,
        "left_out": talk.left_out.lines,
        "tokens": asdict(spent.usage),
        "cost": spent.dollars,
        "seconds": round(spent.seconds, 3),
    }
