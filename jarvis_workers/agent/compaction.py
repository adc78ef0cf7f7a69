"""Compaction of the history: a summary replaces all messages but the system prompt and the task.

If the provider stores files, the history is uploaded instead; if the upload fails, the history is summarized.
"""

from dataclasses import replace

from jarvis_workers.agent import events
from jarvis_workers.agent.agent import Agent
from jarvis_workers.agent.effects import Conversation, Upload
from jarvis_workers.agent.prompts import fill
from jarvis_workers.platforms.protocol import Message

TRIES = 2
NO_SUMMARY = "(no summary)"


def compact(agent: Agent) -> Conversation[None]:
    """Upload or summarize the history, then clear it."""
    uploaded: bool = yield Upload(agent.session.history())
    if uploaded:
        continuation = fill("uploaded", language=agent.about.language)
    else:
        summary = (yield from ask_aside(agent, fill("summary", language=agent.about.language))) or NO_SUMMARY
        # the summary may paraphrase untrusted text, so it is untrusted too
        marked = agent.guard.mark_lines(iter(summary.split("\n")))
        continuation = fill("continue", summary=marked, language=agent.about.language)
    yield from agent.announce(events.BEFORE_HISTORY_CLEAR)
    agent.session.clear(continuation)
    agent.compactions += 1
    yield agent.tell(events.AFTER_HISTORY_CLEAR)


def summarize(agent: Agent, *, auto_completed: bool) -> Conversation[str]:
    """Return the model's final summary of the task; empty if the model returns none."""
    prompt = agent.about.summary_prompt or fill("final_summary")
    yield from agent.announce(events.BEFORE_SUMMARY, prompt=prompt, auto_completed=auto_completed, need_summary=True)
    summary = yield from ask_aside(agent, prompt)
    yield agent.tell(events.AFTER_SUMMARY, summary=summary)
    return summary


def ask_aside(agent: Agent, prompt: str) -> Conversation[str]:
    """Ask the model for a text about the conversation, which the session does not keep; empty if there is none.

    A truncated or empty answer is requested once more.
    """
    for _ in range(TRIES):
        request = agent.request()
        asks = (*request.messages, Message("user", prompt))
        reply = yield from agent.ask(prompt, replace(request, messages=asks, schema=None, estimated=0))
        if reply.is_whole and reply.content.strip():
            return reply.content.strip()
    return ""
