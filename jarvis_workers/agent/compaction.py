"""Make room: one summary takes the place of all that was said; the system prompt and the task stay as they are.

Where the provider keeps files, the conversation goes there instead; if that fails it is summed up like elsewhere.
"""

from dataclasses import replace

from jarvis_workers.agent import events
from jarvis_workers.agent.agent import Agent
from jarvis_workers.agent.effects import Conversation, Upload
from jarvis_workers.agent.prompts import fill
from jarvis_workers.platforms.protocol import Message

TRIES = 2
NO_SUMMARY = "(there is no summary)"


def compact(agent: Agent) -> Conversation[None]:
    """Sum up, then begin again with what is known."""
    uploaded: bool = yield Upload(agent.session.history())
    if uploaded:
        continuation = fill("uploaded")
    else:
        summary = (yield from _ask(agent, fill("summary"))) or NO_SUMMARY
        # what is retold of foreign text is foreign still
        continuation = fill("continue", summary=agent.guard.mark_lines(iter(summary.split("\n"))))
    yield agent.tell(events.BEFORE_HISTORY_CLEAR)
    agent.session.clear(continuation)
    agent.compactions += 1
    yield agent.tell(events.AFTER_HISTORY_CLEAR)


def summarize(agent: Agent, *, auto_completed: bool) -> Conversation[str]:
    """Sum up what was done, for whoever gave the task; empty if the model says nothing."""
    prompt = agent.about.summary_prompt or fill("final_summary")
    yield agent.tell(events.BEFORE_SUMMARY, prompt=prompt, auto_completed=auto_completed, need_summary=True)
    summary = yield from _ask(agent, prompt)
    yield agent.tell(events.AFTER_SUMMARY, summary=summary)
    return summary


def _ask(agent: Agent, prompt: str) -> Conversation[str]:
    """Ask for a text, the conversation being what it is about; an answer that is cut or empty is asked for again."""
    for _ in range(TRIES):
        request = agent.request()
        asks = (*request.messages, Message("user", prompt))
        reply = yield from agent.ask(prompt, replace(request, messages=asks, schema=None, estimated=0))
        if reply.is_whole and reply.content.strip():
            return reply.content.strip()
    return ""
