"""An agent: its definition, tools, limits and session, and its requests and notifications.

`loop.run_task` runs an agent.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from jarvis_workers.agents.loop import events
from jarvis_workers.agents.loop.edit_blocks import explain_edits
from jarvis_workers.agents.loop.effects import Ask, Conversation, Definition, Tell, Upload
from jarvis_workers.agents.loop.limits import AgentLimits, AgentUsage, AnswerCounts, Reason, Session
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.output import shorten
from jarvis_workers.agents.loop.output_handler import OutputHandler
from jarvis_workers.agents.loop.prompts import fill
from jarvis_workers.agents.loop.report import SUBMIT, ReportForm
from jarvis_workers.agents.loop.text_tool_call import tags
from jarvis_workers.agents.loop.untrusted_text import Guard, escape
from jarvis_workers.agents.tools.editing import PATCH, REWRITE
from jarvis_workers.agents.tools.tool import Tool, Toolbox
from jarvis_workers.errors import AgentStopped, ModelError, ModelRefused
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.models.platforms.protocol import Message, ModelRequest, Reply, ToolSpec

# Sanitize the descriptions and schemas of tools that others wrote, before they enter a prompt or a request.

DESCRIPTION = "description"


def admit_tools(tools: Toolbox, guard: Guard) -> Toolbox:
    """Return the tools with admitted descriptions; those of this program stay as they are."""
    if not any(tool.foreign_text for tool in tools.tools):
        return tools
    return Toolbox(_admit(tool, guard) if tool.foreign_text else tool for tool in tools.tools)


def _admit(tool: Tool, guard: Guard) -> Tool:
    parameters = {key: _admit_schema(value, guard, key) for key, value in tool.parameters.items()}
    return replace(tool, description=guard.admit(tool.description), parameters=parameters, foreign_text=False)


def _admit_schema(part: Any, guard: Guard, key: str = "") -> Any:
    """Return a part of a schema: its descriptions marked; other texts, which a call may repeat, only if suspicious."""
    if isinstance(part, str):
        admitted, plain = guard.admit(part), escape(part)
        is_harmless = admitted == guard.mark_lines(iter(plain.split("\n")))
        return plain if is_harmless and key != DESCRIPTION else admitted
    if isinstance(part, dict):
        return {name: _admit_schema(value, guard, name) for name, value in part.items()}
    return [_admit_schema(value, guard) for value in part] if isinstance(part, list) else part


Hook = Callable[["Agent"], Conversation[str]]


class Agent:
    """The state of one agent. Listeners receive the agent as `agent`; they may store values in `session.user_data`.

    Hooks are conversations that run after the listeners of an event, such as questions to the model. `form` is the
    schema of the report, None if the agent answers in prose; `handlers` act on answers without a tool call; `stopped`
    is the limit that ended the last task (`limits.Reason`), else None.
    """

    def __init__(
        self,
        about: Definition,
        tools: Toolbox,
        *,
        profile: Profile,
        marks: Marks,
        form: ReportForm | None = None,
        limits: AgentLimits | None = None,
        handlers: Sequence[OutputHandler] = (),
    ) -> None:
        self.about, self.profile, self.marks, self.form = about, profile, marks, form
        self.handlers = tuple(handlers)
        self.limits = limits or AgentLimits()
        self.guard = Guard(marks.line)
        tools = admit_tools(tools, self.guard)
        self.way = form.way(profile, has_tools=bool(tools.names)) if form else None
        self.tools = tools.plus(form.tool()) if form and self.way == "tool" else tools
        self.spent = AgentUsage()
        self.counts = AnswerCounts(self.limits)
        self.executed: Counter[str] = Counter()
        self.hooks: dict[str, list[Hook]] = {}
        self.compactions = 0
        self.session = Session(self.system_prompt(), self.opening)
        self.stopped: str | None = None

    @property
    def name(self) -> str:
        return self.about.name

    @property
    def call_tags(self) -> tuple[str, str] | None:
        """The tags of a tool call, if the model writes its calls as text."""
        return tags(self.marks.nonce) if self.profile.tools == "text" and self.tools.names else None

    @property
    def readers(self) -> tuple[str, ...]:
        """The tools of which an answer may contain several calls, if the provider allows it: those without effects."""
        if not self.profile.parallel_calls:
            return ()
        return tuple(tool.name for tool in self.tools.tools if tool.reads_only)

    @property
    def rule_of_calls(self) -> str:
        """The number of calls that an answer may contain, as an instruction; empty if there are no tools."""
        return self.about.prompt("calls", names=self.tools.names, readers=self.readers, blocks=bool(self.call_tags))

    @property
    def report_form(self) -> str:
        """The model's instructions for the report, empty if the agent answers in prose."""
        return self.form.explain(self.way, self.about.language) if self.form and self.way else ""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools to declare in a request: none if the model writes its calls as text."""
        if self.profile.tools == "text":
            return ()
        return tuple(
            ToolSpec(tool.name, tool.description, tool.parameters, tool.reads_only) for tool in self.tools.tools
        )

    def system_prompt(self) -> str:
        """Return the first message, which is the same for all conversations of such agents."""
        return fill(
            "system",
            system_prompt="\n\n".join((self.about.system_prompt, *(handler.prompt() for handler in self.handlers))),
            tools=self.tools.tools if self.call_tags else (),
            report=self.form.describe(self.way) if self.form and self.way else "",
            language=self.about.language,
        )

    @property
    def opening(self) -> str:
        """The marks of this conversation, which precede its first task."""
        edits = self.call_tags and {PATCH, REWRITE} <= set(self.tools.names)
        return fill(
            "opening",
            call=self.call_tags,
            edits=explain_edits(self.marks.nonce) if edits else "",
            mark=self.marks.line,
            canary=self.marks.canary,
            language=self.about.language,
        )

    def restrict(self, names: list[str]) -> None:
        """Offer only these tools and the report tool, in a new session with a new system prompt."""
        self.tools = self.tools.only(name for name in self.tools.names if name in names or name == SUBMIT)
        self.session = Session(self.system_prompt(), self.opening)

    def request(self) -> ModelRequest:
        """Return the next request of the session; `seconds` and `retries` are the remaining time and retries."""
        limits, spent = self.limits, self.spent
        return ModelRequest(
            messages=tuple(self.session.messages),
            tools=self.specs,
            schema=self.form.schema if self.form and self.way == "schema" else None,
            turn=self.session.turn,
            vote=self.about.vote,
            escalated=self.about.escalated,
            seconds=max(limits.seconds - spent.seconds, 0.0),
            retries=max(limits.retries - spent.retries, 0),
            estimated=self.session.estimated,
        )

    def ask(self, message: str, request: ModelRequest | None = None) -> Conversation[Reply]:
        """Send the session's next request, or `request`; `message` is for listeners. Raises AgentStopped at a limit."""
        self.spent.check(self.limits)
        yield self.tell(events.BEFORE_MODEL_CALL, message=message)
        try:
            reply: Reply = yield Ask(request or self.request(), aside=request is not None)
        except ModelError as error:
            self.spent.add_failure(error.tries)
            why = Reason.REFUSED if isinstance(error, ModelRefused) else Reason.UNAVAILABLE
            raise AgentStopped(why, str(error)) from error
        self.spent.add_reply(reply)
        yield self.tell(events.AFTER_MODEL_CALL, message=message, response=reply.content)
        return reply

    def add_hook(self, event: str, hook: Hook) -> None:
        """Run a hook at an event of `announce`."""
        self.hooks.setdefault(event, []).append(hook)

    def announce(self, event: str, **payload: Any) -> Conversation[str]:
        """Notify listeners of an event and run its hooks; return the texts of the hooks, for the prompt."""
        yield self.tell(event, **payload)
        texts = []
        for hook in self.hooks.get(event, ()):
            texts.append((yield from hook(self)))
        return "\n\n".join(filter(None, texts))

    def tell(self, event: str, **payload: Any) -> Tell:
        """Return the effect that notifies listeners of an event (`events`)."""
        return Tell(event, {"agent": self, **payload})


# Tool selection: if there are many tools, a request outside the session asks the model which ones the task needs.

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


# Compaction of the history: a summary replaces all messages but the system prompt and the task.

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
