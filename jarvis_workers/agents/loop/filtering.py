"""Tool selection: if there are many tools, a request outside the session asks the model which ones the task needs.

The answer must consist of tool numbers only; if no number is valid, all tools are offered.
"""

import re
from dataclasses import replace

from jarvis_workers.agents.loop import events
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation
from jarvis_workers.agents.loop.prompts import fill
from jarvis_workers.agents.loop.report import SUBMIT
from jarvis_workers.models.platforms.protocol import Message

NUMBERS = re.compile(r"[\d\s,;，、.]+")


def filter_tools(agent: Agent, task: str) -> Conversation[None]:
    """Restrict the agent to the tools that the model selects for the task, and update the system prompt."""
    offered = tuple(tool for tool in agent.tools.tools if tool.name != SUBMIT)
    total, threshold = len(offered), agent.limits.filter_above
    if total <= threshold:
        return
    yield agent.tell(events.BEFORE_TOOL_FILTER, task=task, total_tools=total, threshold=threshold)
    prompt = fill("filter", tools=offered, task=task)
    asks = (Message("user", prompt),)
    aside = replace(agent.request(), messages=asks, tools=(), schema=None, turn=0, estimated=0)
    reply = yield from agent.ask(prompt, aside)
    selection = _chosen(reply.content, [tool.name for tool in offered])
    if selection:
        agent.restrict(selection)
    yield agent.tell(events.TOOL_FILTERED, task=task, selected_tools=selection, total_tools=total, threshold=threshold)


def _chosen(answer: str, names: list[str]) -> list[str]:
    if not NUMBERS.fullmatch(answer.strip() or "-"):
        return []
    places = {int(number) for number in re.findall(r"\d{1,6}", answer)}
    return [name for place, name in enumerate(names, 1) if place in places]
