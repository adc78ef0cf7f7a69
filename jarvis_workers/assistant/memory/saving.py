"""Ask the model to save memories at the end of a task, before its history is cleared, and at an interrupt.

It is asked once a task and outside the session, so that the history stays as it is.  A failure changes nothing.
"""

from dataclasses import replace

from jarvis_workers.agents.loop import events
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Note
from jarvis_workers.agents.loop.loop import BadReply, read_calls, run_call
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.agents.tools.tool import BadCall
from jarvis_workers.assistant.memory.guidance import FOLDER
from jarvis_workers.assistant.memory.tools import SAVE
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.protocol import Message, Reply

# The key in `session.user_data`, which has the seeds' name.
PROMPTED = "__memory_save_prompted__"
TRIES = 2


def add_saving(agent: Agent) -> None:
    """Save memories at the events that the seeds name (force_save_memory)."""
    agent.add_hook(events.TASK_STARTED, _begin)
    for event in (events.BEFORE_HISTORY_CLEAR, events.TASK_COMPLETED, events.INTERRUPT_TRIGGERED):
        agent.add_hook(event, save_memories)


def save_memories(agent: Agent) -> Conversation[str]:
    """Ask the model to save memories, unless it was asked in this task or cannot save any. Returns no text."""
    user_data = agent.session.user_data
    if SAVE not in agent.tools.names or user_data.get(PROMPTED):
        return ""
    user_data[PROMPTED] = True
    try:
        problem = yield from _ask(agent)
    except AgentStopped as stop:
        problem = str(stop)
    if problem:
        yield Note("memories were not saved", {"agent": agent.name, "says": problem})
    return ""


def _begin(agent: Agent) -> Conversation[str]:
    agent.session.user_data.pop(PROMPTED, None)
    yield from ()
    return ""


def _ask(agent: Agent) -> Conversation[str]:
    """Ask up to TRIES times; return why nothing was saved, empty if there was nothing to save."""
    problem = ""
    for _ in range(TRIES):
        prompt = fill_from(FOLDER, "save", call=agent.call_tags, problem=problem)
        request = agent.request()
        asks = (*request.messages, Message("user", prompt))
        reply = yield from agent.ask(prompt, replace(request, messages=asks, schema=None, estimated=0))
        try:
            return (yield from _save(agent, reply))
        except (BadReply, BadCall) as error:
            problem = str(error)
    return problem


def _save(agent: Agent, reply: Reply) -> Conversation[str]:
    calls = read_calls(agent, reply)
    if not calls:
        return ""
    if calls[0].name != SAVE:
        raise BadCall(f"call {SAVE}, or answer NONE; no other tool was run")
    outcome = yield from run_call(agent, SAVE, agent.tools.read(SAVE, calls[0].arguments))
    return "" if outcome.success else outcome.stderr
