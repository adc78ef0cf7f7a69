"""A turn of a conversation with a person: one input, until the agent answers it, a limit ends it, or the person does.

`take_turn` wraps the agent loop: it confirms tool calls, runs the tools that need the person or another agent, and
handles interrupts. After Ctrl-C the person is asked for input. Empty input completes the turn; other input goes to the
model with its next request, and a pending call runs only if the person says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from jarvis_workers.agents.loop import events
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Answer, Ask, Conversation, RunTool, TaskResult, Want, intercept
from jarvis_workers.agents.loop.limits import AgentUsage, AnswerCounts
from jarvis_workers.agents.loop.loop import run_task
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.assistant.autonomy import Autonomy, approvable
from jarvis_workers.assistant.children import count_child
from jarvis_workers.assistant.person import AskPerson, Confirm, Decision, Interrupted, ShowCall, Turn
from jarvis_workers.assistant.person_tools import ASK_USER, SUB_AGENT
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.protocol import Message

INTERRUPTED = "(interrupted by the user)"
UNANSWERED = "(no answer)"
INPUT = "Interrupted. Your input (empty: end this turn; Ctrl-C: save and quit):"
YES = frozenset({"y", "yes"})

MakeChild = Callable[[Agent, Mapping[str, Any], int], Agent]


class LoopAction(StrEnum):
    """What follows an interrupt: run the pending call, leave it out, or end the turn."""

    CONTINUE = "continue"
    SKIP_TURN = "skip_turn"
    COMPLETE = "complete"


@dataclass(frozen=True)
class TurnRules:
    """Who decides on calls: the autonomy of the session, whether a person is there, and how sub-agents are made.

    `depth` is 0 for the agent of the session, 1 for its sub-agents. `run` runs a task, for example split into parts.
    """

    autonomy: Autonomy
    make_child: MakeChild
    has_person: bool = True
    depth: int = 0
    run: Callable[[Agent, str], Conversation[TaskResult]] = run_task


class _TurnEnded(Exception):
    """The person ended the turn."""


def take_turn(agent: Agent, task: str, rules: TurnRules) -> Turn[TaskResult | None]:
    """Run one input and return its result, None if the person ended the turn. Raises AgentStopped at a limit."""
    begin_turn(agent)
    try:
        return (yield from intercept(rules.run(agent, task), _RunningTurn(agent, rules).perform))
    except _TurnEnded:
        agent.session.close_turn(INTERRUPTED)
        return None


def begin_turn(agent: Agent) -> None:
    """Begin a turn: limits on model calls, time and retries hold for it, limits on tokens and cost for the session.

    An earlier turn that ended without an answer, such as by a second Ctrl-C, gets a note as its answer.
    """
    agent.session.close_turn(UNANSWERED)
    agent.spent = AgentUsage(usage=agent.spent.usage, cost=agent.spent.cost, unpriced=agent.spent.unpriced)
    agent.counts = AnswerCounts(agent.limits)


class _RunningTurn:
    """The effects of one turn; `_texts` are inputs of the person that the model has not seen yet."""

    def __init__(self, agent: Agent, rules: TurnRules) -> None:
        self._agent, self._rules = agent, rules
        self._texts: list[str] = []

    def perform(self, want: Want) -> Turn[Answer]:
        """Perform an effect of the loop; raises ModelError."""
        if isinstance(want, RunTool):
            return (yield from self._run(want))
        while True:
            try:
                answer: Answer = yield self._shown(want)
                return answer
            except Interrupted:
                yield from self._take_input()

    def _shown(self, want: Want) -> Want:
        """Return a request with the person's new input; the answers of a sub-agent are not shown."""
        if not isinstance(want, Ask) or want.aside:
            return want
        if self._texts and want.request.messages[-1] is self._agent.session.messages[-1]:
            if self._agent.session.messages[-1].role == "user":
                self._agent.session.close_turn(INTERRUPTED)
            self._agent.session.say(Message("user", "\n\n".join(self._texts)))
            self._texts.clear()
            want = Ask(self._agent.request())
        return replace(want, aside=self._rules.depth > 0)

    def _take_input(self, call: RunTool | None = None) -> Turn[LoopAction]:
        """Ask for input after an interrupt, and whether to run the pending call; raises _TurnEnded."""
        text: str = (yield AskPerson(INPUT, last=True)) if self._rules.has_person else ""
        response = f"{call.name} {dict(call.arguments)}" if call else ""
        yield from self._agent.announce(events.INTERRUPT_TRIGGERED, current_response=response, user_input=text)
        if not text:
            raise _TurnEnded
        self._texts.append(text)
        if call is None:
            return LoopAction.SKIP_TURN
        answer: str = yield AskPerson(f"Run the pending call {call.name}? [y/N]", last=True)
        return LoopAction.CONTINUE if answer.strip().lower() in YES else LoopAction.SKIP_TURN

    def _run(self, want: RunTool) -> Turn[ToolOutcome]:
        if refusal := self._rules.autonomy.refusal(want.name):
            return ToolOutcome("error", stderr=refusal)
        is_confirmed = not self._rules.autonomy.needs_yes(want.name, want.arguments)
        while True:
            try:
                if not is_confirmed and not (yield from self._confirm(want)):
                    return ToolOutcome("error", stderr="not run: the user refused the call")
                return (yield from self._do(want))
            except Interrupted:
                if (yield from self._take_input(want)) is LoopAction.SKIP_TURN:
                    return ToolOutcome("error", stderr="interrupted by the user; it may have been partly done")
                is_confirmed = True

    def _confirm(self, want: RunTool) -> Turn[bool]:
        if not self._rules.has_person:
            return False
        base = approvable(want.name, want.arguments)
        decision: Decision = yield Confirm(_call_text(want), base)
        if decision == "always" and base:
            self._rules.autonomy.allow(base)
        return decision != "no"

    def _do(self, want: RunTool) -> Turn[ToolOutcome]:
        if want.name == ASK_USER and self._rules.has_person:
            text: str = yield AskPerson(str(want.arguments["question"]))
            return ToolOutcome(stdout=text or "(no answer)")
        if want.name == SUB_AGENT:
            return (yield from self._run_child(want))
        outcome: ToolOutcome = yield want
        return outcome

    def _run_child(self, want: RunTool) -> Turn[ToolOutcome]:
        """Run a sub-agent within what is left of its parent's limits, and count what it used."""
        child = self._rules.make_child(self._agent, want.arguments, self._rules.depth + 1)
        rules = replace(self._rules, depth=self._rules.depth + 1, run=run_task)
        yield ShowCall(want.name, want.arguments)
        try:
            result = yield from take_turn(child, str(want.arguments["task"]), rules)
        except AgentStopped as stop:
            return ToolOutcome("failed", stderr=f"the sub-agent was stopped ({stop.reason}): {stop}")
        finally:
            count_child(self._agent, child)
        if result is None:
            return ToolOutcome("failed", stderr="the user ended the sub-agent")
        return ToolOutcome(stdout=result.text)


def _call_text(want: RunTool) -> str:
    """Return a call as a person reads it: a script as it is, other arguments by name."""
    shown = [f"{name}: {value}" for name, value in want.arguments.items()]
    return "\n".join([want.name, *shown])
