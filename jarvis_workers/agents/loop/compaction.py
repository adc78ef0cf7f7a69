"""Compaction of the history: a summary replaces all messages but the system prompt and the task.

If the provider stores files, the history is uploaded instead; if the upload fails, the history is summarized.
"""

from dataclasses import replace

from jarvis_workers.agents.loop import events
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Conversation, Upload
from jarvis_workers.agents.loop.output import shorten
from jarvis_workers.agents.loop.prompts import fill
from jarvis_workers.models.platforms.protocol import Message, Reply

TRIES = 2
NO_SUMMARY = "(there is no summary; this is an excerpt of the conversation)"
# The size of the excerpt that replaces a missing summary, as a part of the context window and in tokens.
EXCERPT_SHARE, EXCERPT_TOKENS = 8, 4_000


def compact(agent: Agent) -> Conversation[None]:
    """Upload or summarize the history, then clear it."""
    uploaded: bool = yield Upload(agent.session.history())
    if uploaded:
        continuation = agent.about.prompt("uploaded")
    else:
        summary = yield from ask_aside(agent, agent.about.prompt("summary"))
        summary = summary or _excerpt(agent)
        # the summary may paraphrase untrusted text, so it is untrusted too
        marked = agent.guard.mark_lines(iter(summary.split("\n")))
        continuation = agent.about.prompt("continue", summary=marked)
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

    After a truncated or empty answer, or one with a tool call, the model is told so and asked once more. The tools stay
    in the request: some providers refuse a history with calls but without tools.
    """
    asks = prompt
    for _ in range(TRIES):
        request = agent.request()
        messages = (*request.messages, Message("user", asks))
        reply = yield from agent.ask(asks, replace(request, messages=messages, schema=None, estimated=0))
        problem = _problem(agent, reply)
        if problem is None:
            return reply.content.strip()
        asks = f"{prompt}\n\n{agent.about.prompt('refused', problem=problem, call=None)}"
    return ""


def _problem(agent: Agent, reply: Reply) -> str | None:
    """Return why an answer is not the text that was asked for, None if it is."""
    if not reply.is_whole:
        return "it was truncated; write a shorter text"
    if reply.calls or (agent.call_tags and agent.call_tags[0] in reply.content):
        return "it contains a tool call, and nothing was run; write only the text"
    return None if reply.content.strip() else "it is empty"


def _excerpt(agent: Agent) -> str:
    """Return the history without the task, shortened: a summary that does not come must not cost all findings."""
    session = agent.session
    history = "\n\n".join(f"{one.role}: {one.content}" for one in session.messages[session.turn + 1 :])
    return f"{NO_SUMMARY}\n{shorten(history, min(EXCERPT_TOKENS, agent.profile.context // EXCERPT_SHARE))}"
