"""The agent loop: ask the model, run the tool calls of its answer, repeat until the task ends or a limit is reached.

The loop is a generator (sans-IO): it yields effects (`effects.Want`), gets their results, and uses no connection,
clock or file, so that the same answers produce the same conversation.  Control flow uses exceptions: an unusable answer
is reported to the model, a limit raises AgentStopped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jarvis_workers.agents.loop import events
from jarvis_workers.agents.loop.agent import Agent, compact, filter_tools, summarize
from jarvis_workers.agents.loop.edit_blocks import find_edit
from jarvis_workers.agents.loop.effects import Conversation, Ending, Note, RunTool, TaskResult, Tell
from jarvis_workers.agents.loop.output import shorten
from jarvis_workers.agents.loop.output_handler import OutputHandler, find_handler
from jarvis_workers.agents.loop.report import SUBMIT, BadReport
from jarvis_workers.agents.loop.text_tool_call import find_calls
from jarvis_workers.agents.loop.untrusted_text import QUOTED, Suspicion
from jarvis_workers.agents.tools.tool import BadCall, ToolOutcome
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.protocol import Message, Reply, ToolCall

COMPLETE = "!!!COMPLETE!!!"
NO_OUTPUT = "(no output)"
# Of an answer; those beyond are named in the result, each with so many characters of its arguments.
CALLS_MAX, CUT_LENGTH = 8, 200
# The number of calls left from which on the results say how many there are.
FEW_CALLS = 2


class BadReply(Exception):
    """An unusable answer; the message is for the model."""


class TaskFinished(Exception):
    """Raised at the end of a task, with its text and its report, if it has one."""

    def __init__(self, text: str, ending: Ending, report: Any = None) -> None:
        super().__init__(ending)
        self.text, self.ending, self.report = text, ending, report


def run_task(agent: Agent, task: str) -> Conversation[TaskResult]:
    """Run a task and return its result; raises AgentStopped at a limit. Further tasks continue the conversation."""
    try:
        return (yield from _do(agent, task))
    except AgentStopped as stop:
        agent.stopped = stop.reason
        raise


def _do(agent: Agent, task: str) -> Conversation[TaskResult]:
    about = agent.about
    yield from agent.announce(events.TASK_STARTED, name=about.name, description=about.description, user_input=task)
    if not agent.session.task:
        yield from filter_tools(agent, task)
    end = yield from run_turn(agent, task)
    return (yield from _complete(agent, end))


def run_turn(agent: Agent, message: str) -> Conversation[TaskFinished]:
    """Add a message to the session, and converse until the answer that ends the turn. Raises AgentStopped."""
    yield from _begin(agent, message)
    while True:
        try:
            yield from _round(agent)
        except TaskFinished as end:
            return end


def _begin(agent: Agent, task: str) -> Conversation[None]:
    """Add the task and the instructions for its tools and report to the session."""
    agent.counts.begin_turn()
    need_complete = agent.about.auto_complete and agent.form is None
    added = yield from agent.announce(
        events.BEFORE_ADDON_PROMPT, need_complete=need_complete, current_message=task, has_session_addon=False
    )
    addon = agent.about.prompt("addon", rule=agent.rule_of_calls, need_complete=need_complete, report=agent.report_form)
    addon = join_prompts(added, addon)
    message = join_prompts(task, addon)
    agent.session.set_tools(agent.specs)
    agent.session.begin(message)
    yield agent.tell(events.AFTER_ADDON_PROMPT, need_complete=need_complete, addon_text=addon, final_message=message)


def _round(agent: Agent) -> Conversation[None]:
    """Send one request and act on the answer; raises TaskFinished."""
    if agent.session.is_full(agent.limits, agent.profile.context):
        yield from compact(agent)
        agent.counts.forget_calls()
    reply = yield from agent.ask(agent.session.messages[-1].content)
    try:
        calls = read_calls(agent, reply)
        if handler := find_handler(agent.handlers, reply.content, calls[0].name if calls else None):
            yield from _handle(agent, reply, handler)
        elif not calls:
            _end(agent, reply)
        else:
            yield from _call(agent, reply, calls)
        agent.counts.malformed = 0
    except (BadReply, BadCall) as problem:
        yield _note(agent, reply, problem)
        agent.counts.add_malformed(str(problem))
        agent.session.refuse(reply, _refusal(agent, problem, agent.call_tags))
    except BadReport as problem:
        yield _note(agent, reply, problem)
        agent.counts.add_reask(str(problem))
        agent.session.refuse(reply, join_prompts(_refusal(agent, problem), agent.report_form))


def _refusal(agent: Agent, problem: Exception, call: tuple[str, str] | None = None) -> str:
    """Return the message about an unusable answer; `call` are the tags of a call in text form."""
    return agent.about.prompt("refused", problem=str(problem), call=call)


def read_calls(agent: Agent, reply: Reply) -> tuple[ToolCall, ...]:
    """Return the tool calls of an answer: none, one, or several of tools without effects; raises BadReply, BadCall."""
    if reply.is_refused:
        raise BadReply(f"it is a refusal ({reply.finish}), not an answer")
    if not reply.is_whole:
        raise BadReply(f"it was truncated ({reply.finish or 'no end'}); write a shorter answer")
    if any(agent.marks.canary in text for text in (reply.content, *(call.arguments for call in reply.calls))):
        agent.guard.suspicions.append(Suspicion("block", "canary", reply.content[:QUOTED]))
        raise BadReply("it contains a forbidden word; nothing was run")
    if agent.profile.tools == "text":
        edit = find_edit(reply.content, agent.marks.nonce)
        calls = (edit,) if edit else find_calls(reply.content, agent.marks.nonce)
        if not calls and reply.calls:
            raise BadReply("its call is not written as a block at the end of the text, and was not run")
    else:
        calls = reply.calls
    if len(calls) > 1 and not all(call.name in agent.readers for call in calls):
        raise BadReply(f"it contains {len(calls)} calls, and none was run. {agent.rule_of_calls}")
    if not calls and not reply.content.strip():
        raise BadReply("it is empty")
    return calls


def _call(agent: Agent, reply: Reply, calls: Sequence[ToolCall]) -> Conversation[None]:
    """Run the first calls of an answer, within the limits, and add their results to the session; raises TaskFinished.

    A call when none is left ends the conversation; the results before say how many are left.
    """
    most = min(CALLS_MAX, agent.counts.calls_left or 1)
    admitted = [(call, _admit_call(agent, call)) for call in calls[:most]]
    yield agent.tell(events.BEFORE_TOOL_CALL, current_response=reply.content)
    if calls[0].name == SUBMIT and agent.form:
        agent.session.answer(replace(reply, content=join_prompts(reply.content, calls[0].arguments)))
        yield _tell_after(agent, reply, "", need_return=True)
        raise TaskFinished(reply.content, "report", agent.form.read_value(admitted[0][1]))
    outputs = []
    for call, arguments in admitted:
        outcome = yield from run_call(agent, call.name, arguments)
        text = shorten(outcome.text(agent.about.language), agent.limits.output_tokens) or NO_OUTPUT
        outputs.append(agent.guard.admit(text) if agent.tools.find(call.name).brings_foreign else text)
    outputs[-1] = join_prompts(outputs[-1], _cut_calls(agent, calls[most:], most), _calls_left(agent), _reminder(agent))
    results = _results(agent, calls, outputs)
    agent.session.answer(reply, calls[:most] if agent.profile.tools == "native" else ())
    for result in results:
        agent.session.say(result)
    yield _tell_after(agent, reply, join_prompts(*(result.content for result in results)), need_return=False)


def run_call(agent: Agent, name: str, arguments: Mapping[str, Any]) -> Conversation[ToolOutcome]:
    """Run a tool of the agent with checked arguments."""
    tool = agent.tools.find(name)
    outcome: ToolOutcome = yield RunTool(name, arguments, tool.repeatable, tool.quick)
    agent.spent.add_outcome(outcome)
    agent.executed[name] += 1
    return outcome


def _handle(agent: Agent, reply: Reply, handler: OutputHandler) -> Conversation[None]:
    """Let a handler act on an answer; raises TaskFinished if the handler ends the task."""
    yield agent.tell(events.BEFORE_TOOL_CALL, current_response=reply.content)
    need_return, result = handler.handle(reply.content, agent)
    agent.session.answer(reply)
    yield _tell_after(agent, reply, "" if need_return else result, need_return=need_return)
    if need_return:
        raise TaskFinished(reply.content, "handled", result)
    agent.session.say(Message("user", result or NO_OUTPUT))


def _admit_call(agent: Agent, call: ToolCall) -> Mapping[str, Any]:
    """Check a call and return its arguments; raises BadCall, BadReport, AgentStopped."""
    if call.name == SUBMIT and agent.form and agent.way == "tool":
        try:
            return agent.tools.read(call.name, call.arguments)
        except BadCall as error:
            raise BadReport(str(error)) from error
    arguments = agent.tools.read(call.name, call.arguments)
    agent.counts.check_call(call.name, arguments)
    return arguments


def _cut_calls(agent: Agent, calls: Sequence[ToolCall], most: int) -> str:
    """Return which calls of an answer were not run, because there were more than `most`; the model's own words."""
    if not calls:
        return ""
    named = [f"{call.name} {call.arguments[:CUT_LENGTH]}" for call in calls[:CALLS_MAX]]
    return agent.about.prompt("cut_calls", calls=named, more=len(calls) - len(named), most=most)


def _calls_left(agent: Agent) -> str:
    left = agent.counts.calls_left
    return agent.about.prompt("calls_left", left=left, report=agent.form is not None) if left <= FEW_CALLS else ""


def _reminder(agent: Agent) -> str:
    if not agent.limits.reminder_rounds or agent.spent.asks % agent.limits.reminder_rounds:
        return ""
    return agent.about.prompt("reminder", rule=agent.rule_of_calls, names=agent.tools.names)


def _results(agent: Agent, calls: Sequence[ToolCall], outputs: Sequence[str]) -> list[Message]:
    """Return the messages with the outputs of the first calls: one, if the model writes its calls as text."""
    if agent.profile.tools == "native":
        return [Message("tool", text, call_id=call.id) for call, text in zip(calls, outputs, strict=False)]
    if len(outputs) == 1:
        return [Message("user", f"Result of {calls[0].name}:\n{outputs[0]}")]
    numbered = enumerate(zip(calls, outputs, strict=False), 1)
    return [Message("user", "\n\n".join(f"Result {n} of {call.name}:\n{text}" for n, (call, text) in numbered))]


def _tell_after(agent: Agent, reply: Reply, prompt: str, *, need_return: bool) -> Tell:
    return agent.tell(
        events.AFTER_TOOL_CALL, current_response=reply.content, need_return=need_return, tool_prompt=prompt
    )


def _end(agent: Agent, reply: Reply) -> None:
    """End the task with an answer without a call: raises TaskFinished, or BadReport if a required report is missing."""
    report = None
    if agent.form:
        if agent.way == "tool":
            raise BadReport(f"end the task with a call of {SUBMIT}")
        report = agent.form.read_text(reply.content)
    agent.session.answer(reply)
    text, marked = without_mark(reply.content) if agent.about.auto_complete else (reply.content, False)
    raise TaskFinished(text, "report" if agent.form else "mark" if marked else "answer", report)


def _note(agent: Agent, reply: Reply, problem: Exception) -> Note:
    facts = {"agent": agent.name, "model": reply.model, "finish": reply.finish, "says": str(problem)}
    return Note("answer cannot be used", facts)


def _complete(agent: Agent, end: TaskFinished) -> Conversation[TaskResult]:
    marked, need_summary = end.ending == "mark", agent.about.need_summary
    summary = ""
    if need_summary:
        summary = yield from summarize(agent, auto_completed=marked)
    yield from agent.announce(events.TASK_COMPLETED, auto_completed=marked, need_summary=need_summary)
    spent = agent.spent
    return TaskResult(
        end.text,
        end.ending,
        end.report,
        summary,
        tools=dict(agent.executed),
        suspicions=tuple(agent.guard.suspicions),
        asks=spent.asks,
        usage=spent.usage,
        cost=spent.cost,
        seconds=spent.seconds,
        compactions=agent.compactions,
    )


def join_prompts(*parts: str) -> str:
    """Join the non-empty parts with blank lines."""
    return "\n\n".join(part for part in parts if part)


def without_mark(text: str) -> tuple[str, bool]:
    """Return an answer without its completion mark, and whether it had one (alone on the last line)."""
    rest, _, last = text.rstrip().rpartition("\n")
    return (rest.rstrip(), True) if last.strip() == COMPLETE else (text, False)
