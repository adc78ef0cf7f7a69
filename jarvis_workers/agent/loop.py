"""The loop: ask, run the one call that the answer makes, go on; until it ends or a limit is reached.

It yields what it wants from the world (`words.Want`) and is sent what came of it, so that it knows no server, clock or
file, and the same answers lead to the same conversation. What ends or bends it is raised: an answer that cannot be
used becomes a message to the model, a limit becomes AgentStopped.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jarvis_workers.agent import events
from jarvis_workers.agent.compaction import compact, summarize
from jarvis_workers.agent.effects import Ask, Conversation, Definition, Ending, Note, RunTool, TaskResult, Tell
from jarvis_workers.agent.filtering import filter_tools
from jarvis_workers.agent.limits import AgentLimits, AgentUsage, Reason
from jarvis_workers.agent.nonces import Marks
from jarvis_workers.agent.output import shorten
from jarvis_workers.agent.prompts import fill
from jarvis_workers.agent.report import SUBMIT, BadReport, ReportForm
from jarvis_workers.agent.session import Session
from jarvis_workers.agent.text_tool_call import find_call, tags
from jarvis_workers.agent.untrusted_text import BAR, QUOTED, Guard, Suspicion
from jarvis_workers.errors import AgentStopped, ModelError, ModelRefused
from jarvis_workers.platforms.profiles import Profile
from jarvis_workers.platforms.protocol import Message, ModelRequest, Reply, ToolCall, ToolSpec
from jarvis_workers.tools.registry import Toolbox
from jarvis_workers.tools.tool import BadCall, ToolOutcome

COMPLETE = "!!!COMPLETE!!!"
NO_OUTPUT = "(no output)"


class BadReply(Exception):
    """An answer that cannot be used; the message is for the model."""


class TaskFinished(Exception):
    """The task has come to its end."""

    def __init__(self, text: str, ending: Ending, report: Any = None) -> None:
        super().__init__(ending)
        self.text, self.ending, self.report = text, ending, report


class Agent:
    """One agent at work. Listeners are handed it; what they want to keep goes into `session.user_data`."""

    def __init__(
        self,
        about: Definition,
        tools: Toolbox,
        *,
        profile: Profile,
        marks: Marks,
        form: ReportForm | None = None,
        limits: AgentLimits | None = None,
    ) -> None:
        self.about, self.profile, self.marks, self.form = about, profile, marks, form
        self.limits = limits or AgentLimits()
        self.way = form.way(profile, has_tools=bool(tools.names)) if form else None
        self.tools = tools.plus(form.tool()) if form and self.way == "tool" else tools
        self.guard = Guard(marks.line)
        self.spent = AgentUsage()
        self.executed: Counter[str] = Counter()
        self.compactions = 0
        self.session = Session(self.system_prompt())
        self.stopped: str | None = None
        self._malformed = self._reasks = self._turn_calls = 0
        self._made: Counter[str] = Counter()

    @property
    def name(self) -> str:
        return self.about.name

    def run(self, task: str) -> Conversation[TaskResult]:
        """Do a task; raises AgentStopped. It may be run again: the conversation goes on."""
        try:
            return (yield from self._do(task))
        except AgentStopped as stop:
            self.stopped = stop.reason
            raise

    def _do(self, task: str) -> Conversation[TaskResult]:
        about = self.about
        yield self.tell(events.TASK_STARTED, name=about.name, description=about.description, user_input=task)
        if not self.session.task:
            yield from filter_tools(self, task)
        yield from self._begin(task)
        while True:
            try:
                yield from self._round()
            except TaskFinished as end:
                return (yield from self._complete(end))

    def ask(self, message: str, request: ModelRequest | None = None) -> Conversation[Reply]:
        """Ask the model within the limits: what the session says, or something else."""
        self.spent.check(self.limits)
        yield self.tell(events.BEFORE_MODEL_CALL, message=message)
        try:
            reply: Reply = yield Ask(request or self.request())
        except ModelError as error:
            self.spent.add_failure(error.tries)
            why = Reason.REFUSED if isinstance(error, ModelRefused) else Reason.UNAVAILABLE
            raise AgentStopped(why, str(error)) from error
        self.spent.add_reply(reply)
        yield self.tell(events.AFTER_MODEL_CALL, message=message, response=reply.content)
        return reply

    def tell(self, event: str, **payload: Any) -> Tell:
        return Tell(event, {"agent": self, **payload})

    def system_prompt(self) -> str:
        """Return the first message: all that does not change from task to task."""
        in_text = self.profile.tools == "text" and self.tools.names
        return fill(
            "system",
            system_prompt=self.about.system_prompt,
            call=tags(self.marks.nonce) if in_text else None,
            tools=self.tools.tools,
            mark=self.marks.line,
            bar=BAR,
            canary=self.marks.canary,
        )

    def restrict(self, names: list[str]) -> None:
        """Offer only these tools, and begin again with a system prompt that says so."""
        kept = (name for name in self.tools.names if name in names or name == SUBMIT)
        self.tools = self.tools.only(kept)
        self.session = Session(self.system_prompt())

    def request(self) -> ModelRequest:
        """Return what the session asks next."""
        limits, spent = self.limits, self.spent
        return ModelRequest(
            messages=tuple(self.session.messages),
            tools=self._specs,
            schema=self.form.schema if self.form and self.way == "schema" else None,
            turn=self.session.turn,
            vote=self.about.vote,
            seconds=max(limits.seconds - spent.seconds, 0.0),
            retries=max(limits.retries - spent.retries, 0),
            estimated=self.session.estimated,
        )

    @property
    def _specs(self) -> tuple[ToolSpec, ...]:
        if self.profile.tools == "text":
            return ()
        return tuple(ToolSpec(tool.name, tool.description, tool.parameters) for tool in self.tools.tools)

    def _begin(self, task: str) -> Conversation[None]:
        """Say the task, and what goes with it."""
        self._turn_calls = 0
        self._made.clear()
        need_complete = self.about.auto_complete and self.form is None
        yield self.tell(
            events.BEFORE_ADDON_PROMPT, need_complete=need_complete, current_message=task, has_session_addon=False
        )
        report = self.form.explain(self.way) if self.form and self.way else ""
        addon = fill("addon", has_tools=bool(self.tools.names), need_complete=need_complete, report=report)
        message = join_prompts(task, addon)
        self.session.set_tools(self._specs)
        self.session.begin(message)
        yield self.tell(events.AFTER_ADDON_PROMPT, need_complete=need_complete, addon_text=addon, final_message=message)

    def _round(self) -> Conversation[None]:
        """Ask once, and do what the answer says; raises Finished."""
        if self.session.is_full(self.limits, self.profile.context):
            yield from compact(self)
            self._made.clear()
        reply = yield from self.ask(self.session.messages[-1].content)
        try:
            call = self._read_call(reply)
            if call is None:
                self._end(reply)
            else:
                yield from self._call(reply, call)
                self._malformed = 0
        except (BadReply, BadCall) as problem:
            yield self._note(reply, problem)
            self._refuse(reply, str(problem))
        except BadReport as problem:
            yield self._note(reply, problem)
            self._ask_again(reply, str(problem))

    def _read_call(self, reply: Reply) -> ToolCall | None:
        """Return the one call of an answer, if it makes one."""
        if not reply.is_whole:
            raise BadReply(f"it was cut off ({reply.finish or 'no end'}); be shorter")
        if any(self.marks.canary in said for said in (reply.content, *(call.arguments for call in reply.calls))):
            self.guard.suspicions.append(Suspicion("block", "canary", reply.content[:QUOTED]))
            raise BadReply("it holds a word that must not be written; nothing was run")
        if self.profile.tools == "text":
            call = find_call(reply.content, self.marks.nonce)
        else:
            if len(reply.calls) > 1:
                raise BadReply(f"it makes {len(reply.calls)} calls, and none was run; make one call in an answer")
            call = reply.calls[0] if reply.calls else None
        if call is None and not reply.content.strip():
            raise BadReply("it is empty")
        return call

    def _call(self, reply: Reply, call: ToolCall) -> Conversation[None]:
        arguments = self._admit_call(call)
        yield self.tell(events.BEFORE_TOOL_CALL, current_response=reply.content)
        if call.name == SUBMIT and self.form:
            self.session.answer(replace(reply, content=join_prompts(reply.content, call.arguments)))
            yield self._tell_after(reply, "", need_return=True)
            raise TaskFinished(reply.content, "report", self.form.read_value(arguments))
        tool = self.tools.find(call.name)
        outcome: ToolOutcome = yield RunTool(call.name, arguments, tool.repeatable, tool.quick)
        self.spent.add_outcome(outcome)
        self.executed[call.name] += 1
        self._turn_calls += 1
        text = shorten(outcome.text(self.about.language), self.limits.output_tokens) or NO_OUTPUT
        said = self._result(call, self.guard.admit(text) if tool.brings_foreign else text)
        self.session.answer(reply, call if self.profile.tools == "native" else None)
        self.session.say(said)
        yield self._tell_after(reply, said.content, need_return=False)

    def _admit_call(self, call: ToolCall) -> Mapping[str, Any]:
        """Return the arguments of a call that may be run; raises BadCall, BadReport, AgentStopped."""
        if call.name == SUBMIT and self.form and self.way == "tool":
            try:
                return self.tools.read(call.name, call.arguments)
            except BadCall as error:
                raise BadReport(str(error)) from error
        arguments = self.tools.read(call.name, call.arguments)
        if self._turn_calls >= self.limits.tool_calls:
            raise AgentStopped(Reason.TOOL_CALLS, f"{self._turn_calls} tools were called; that is the most in a turn")
        made = json.dumps([call.name, arguments], sort_keys=True)
        self._made[made] += 1
        if self._made[made] >= self.limits.same_call:
            raise AgentStopped(
                Reason.REPEATED, f"{call.name} was called {self._made[made]} times with the same arguments"
            )
        return arguments

    def _result(self, call: ToolCall, text: str) -> Message:
        due = self.limits.reminder_rounds and self.spent.asks % self.limits.reminder_rounds == 0
        text = join_prompts(text, fill("reminder", names=self.tools.names)) if due else text
        if self.profile.tools == "native":
            return Message("tool", text, call_id=call.id)
        return Message("user", f"Result of {call.name}:\n{text}")

    def _tell_after(self, reply: Reply, prompt: str, *, need_return: bool) -> Tell:
        return self.tell(
            events.AFTER_TOOL_CALL, current_response=reply.content, need_return=need_return, tool_prompt=prompt
        )

    def _end(self, reply: Reply) -> None:
        """Finish with an answer that makes no call; raises BadReport if one is due and it is none."""
        report = None
        if self.form:
            if self.way == "tool":
                raise BadReport(f"the task ends with a call of {SUBMIT}, and with nothing else")
            report = self.form.read_text(reply.content)
        self.session.answer(reply)
        text, marked = without_mark(reply.content) if self.about.auto_complete else (reply.content, False)
        raise TaskFinished(text, "report" if self.form else "mark" if marked else "answer", report)

    def _note(self, reply: Reply, problem: Exception) -> Note:
        facts = {"agent": self.name, "model": reply.model, "finish": reply.finish, "says": str(problem)}
        return Note("answer cannot be used", facts)

    def _refuse(self, reply: Reply, problem: str) -> None:
        self._malformed += 1
        if self._malformed >= self.limits.malformed:
            raise AgentStopped(Reason.MALFORMED, f"{self._malformed} answers in a row could not be used: {problem}")
        call = tags(self.marks.nonce) if self.profile.tools == "text" and self.tools.names else None
        self.session.refuse(reply, fill("refused", problem=problem, call=call))

    def _ask_again(self, reply: Reply, problem: str) -> None:
        self._reasks += 1
        if self._reasks > self.limits.reasks:
            raise AgentStopped(
                Reason.INCONCLUSIVE, f"no report came after {self.limits.reasks} more questions: {problem}"
            )
        self.session.refuse(reply, join_prompts(fill("refused", problem=problem, call=None), self._explained()))

    def _explained(self) -> str:
        return self.form.explain(self.way) if self.form and self.way else ""

    def _complete(self, end: TaskFinished) -> Conversation[TaskResult]:
        marked, wanted = end.ending == "mark", self.about.need_summary
        summary = ""
        if wanted:
            summary = yield from summarize(self, auto_completed=marked)
        yield self.tell(events.TASK_COMPLETED, auto_completed=marked, need_summary=wanted)
        spent = self.spent
        return TaskResult(
            end.text,
            end.ending,
            end.report,
            summary,
            tools=dict(self.executed),
            suspicions=tuple(self.guard.suspicions),
            asks=spent.asks,
            usage=spent.usage,
            cost=spent.cost,
            seconds=spent.seconds,
            compactions=self.compactions,
        )


def join_prompts(*parts: str) -> str:
    """Join what is not empty, with an empty line between."""
    return "\n\n".join(part for part in parts if part)


def without_mark(text: str) -> tuple[str, bool]:
    """Return an answer without the line that says it is all, and whether it had one: alone, and the last."""
    rest, _, last = text.rstrip().rpartition("\n")
    return (rest.rstrip(), True) if last.strip() == COMPLETE else (text, False)
