"""Analyze a task after its end, and save what was learned as a methodology.

The analysis is a turn in a copy of the session, so that the history, the answer and the summary of the task stay as
they are; it may call the tools of the agent. It runs once a task, and its failure changes nothing.
"""

import copy
from dataclasses import replace

from jarvis_workers.agents.loop import events
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Note
from jarvis_workers.agents.loop.limits import AnswerCounts
from jarvis_workers.agents.loop.loop import run_turn
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.assistant.methodology import SAVE_METHODOLOGY
from jarvis_workers.assistant.send_message import PROMPTS
from jarvis_workers.errors import AgentStopped

# The key in `session.user_data`, which has the seeds' name.
DONE = "__task_analysis_done__"
# The number of model calls of an analysis.
ROUNDS = 6


def add_analysis(agent: Agent) -> None:
    """Analyze each task of the agent before its summary, or at its end if it has none (use_analysis)."""
    agent.add_hook(events.TASK_STARTED, _begin)
    for event in (events.BEFORE_SUMMARY, events.TASK_COMPLETED):
        agent.add_hook(event, _analyze_quietly)


def analyze_task(agent: Agent, feedback: str = "") -> Conversation[str]:
    """Return the model's analysis of the task; empty if there was one before, or if it fails.

    `feedback` is what a person says about the result, empty if nobody was asked.
    """
    if agent.session.user_data.get(DONE):
        return ""
    agent.session.user_data[DONE] = True
    prompt = fill_from(PROMPTS, "analysis", feedback=feedback, can_save=SAVE_METHODOLOGY in agent.tools.names)
    try:
        return (yield from run_turn(_aside(agent), prompt)).text
    except AgentStopped as stop:
        yield Note("no task analysis", {"agent": agent.name, "says": str(stop)})
        return ""


def _begin(agent: Agent) -> Conversation[str]:
    agent.session.user_data.pop(DONE, None)
    yield from ()
    return ""


def _analyze_quietly(agent: Agent) -> Conversation[str]:
    yield from analyze_task(agent)
    return ""


def _aside(agent: Agent) -> Agent:
    """Return a copy of the agent with a copy of its session, and the same usage; it has no hooks and no report."""
    aside = copy.copy(agent)
    aside.about = replace(agent.about, auto_complete=False)
    aside.form, aside.way, aside.handlers, aside.hooks = None, None, (), {}
    aside.limits = replace(agent.limits, rounds=min(agent.limits.rounds, agent.spent.asks + ROUNDS))
    aside.counts = AnswerCounts(aside.limits)
    aside.session = copy.copy(agent.session)
    aside.session.messages = list(agent.session.messages)
    return aside
