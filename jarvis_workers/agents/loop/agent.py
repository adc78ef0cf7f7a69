"""An agent: its definition, tools, limits and session, and its requests and notifications.

`loop.run_task` runs an agent.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from jarvis_workers.agents.loop import events
from jarvis_workers.agents.loop.edit_blocks import explain_edits
from jarvis_workers.agents.loop.effects import Ask, Conversation, Definition, Tell
from jarvis_workers.agents.loop.foreign_tools import admit_tools
from jarvis_workers.agents.loop.limits import AgentLimits, AgentUsage, AnswerCounts, Reason
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.output_handler import OutputHandler
from jarvis_workers.agents.loop.prompts import fill
from jarvis_workers.agents.loop.report import SUBMIT, ReportForm
from jarvis_workers.agents.loop.session import Session
from jarvis_workers.agents.loop.text_tool_call import tags
from jarvis_workers.agents.loop.untrusted_text import Guard
from jarvis_workers.agents.tools.editing import PATCH, REWRITE
from jarvis_workers.agents.tools.registry import Toolbox
from jarvis_workers.errors import AgentStopped, ModelError, ModelRefused
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.models.platforms.protocol import ModelRequest, Reply, ToolSpec

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
