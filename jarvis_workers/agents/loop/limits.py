"""Limits of a conversation, each with its own stop reason. A conversation that reaches a limit is undecided."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from jarvis_workers.agents.loop.output import shorten
from jarvis_workers.errors import AgentStopped
from jarvis_workers.models.platforms.protocol import (
    Message,
    Reply,
    TokenUsage,
    ToolCall,
    ToolSpec,
    estimate_message,
    estimate_tools,
)
from jarvis_workers.models.ratelimit.token_calibration import Calibration

if TYPE_CHECKING:
    from jarvis_workers.agents.tools.tool import ToolOutcome


class Reason(StrEnum):
    """The reason why a conversation ended without a result."""

    ROUNDS = "rounds"
    TOOL_CALLS = "tool_calls"
    TOKENS = "tokens"
    COST = "cost"
    TIME = "time"
    MALFORMED = "malformed"
    REPEATED = "repeated"
    INCONCLUSIVE = "inconclusive"
    REFUSED = "refused"
    UNAVAILABLE = "unavailable"
    HOPS = "hops"


# What a person reads, with the details in parentheses.
EARLY_ENDS = {
    Reason.ROUNDS: "the conversation reached its limit of model calls",
    Reason.TOOL_CALLS: "the model reached its limit of tool calls",
    Reason.TOKENS: "the conversation reached its limit of tokens",
    Reason.COST: "the conversation reached a limit of cost",
    Reason.TIME: "the conversation reached its time limit",
    Reason.MALFORMED: "the answers of the model could not be used",
    Reason.REPEATED: "the model repeated itself",
    Reason.INCONCLUSIVE: "the model submitted no valid report",
    Reason.REFUSED: "the model server refused the request",
    Reason.UNAVAILABLE: "the model server gave no answer",
    Reason.HOPS: "the agents sent each other too many messages",
}


def early_end(stop: AgentStopped) -> str:
    """Return why a conversation ended without a result, as a sentence for a person."""
    return f"{EARLY_ENDS[Reason(stop.reason)]} ({stop})"


def is_caused_by_answers(reason: str) -> bool:
    """Return whether unusable answers ended a conversation; if cached, they would end the next conversation too."""
    return reason in (Reason.MALFORMED, Reason.INCONCLUSIVE)


@dataclass(frozen=True)
class AgentLimits:
    """The limits of a conversation; None means unlimited.

    `tokens`, `cost` (dollars) and `seconds` are totals of all answers and tools. Limits per task are `tool_calls`
    and `same_call` (calls with the same arguments). `malformed` limits consecutive unusable answers, `reasks` the
    repeated requests for a report, `retries` the repeated model requests of the whole conversation. The history is
    summarized at `compact_at` of the context window (a fraction), after `compact_rounds` answers, or above
    `compact_messages`. With more than `filter_above` tools, the model first chooses the ones it needs. `output_tokens`
    limits the output of a tool. The list of tools is repeated every `reminder_rounds`. Defaults that the seed documents
    give are used unchanged (docs/seeds.md).
    """

    rounds: int = 60
    tool_calls: int = 10
    tokens: int | None = 2_000_000
    cost: float | None = None
    seconds: float = 3600
    malformed: int = 3
    same_call: int = 3
    reasks: int = 2
    retries: int = 3
    compact_at: float = 0.8
    compact_rounds: int = 20
    compact_messages: int = 50
    filter_above: int = 30
    output_tokens: int = 4_000
    reminder_rounds: int = 20


@dataclass
class AgentUsage:
    """The requests, retries, tokens, dollars and seconds that a conversation has used so far.

    `cost` does not include the `unpriced` answers, which are those of a model without prices.
    """

    asks: int = 0
    retries: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0

    @property
    def dollars(self) -> float | None:
        """The cost in dollars; None if it is unknown, because the model has no prices."""
        return None if self.unpriced else self.cost

    def add_reply(self, reply: Reply) -> None:
        self.asks += 1
        self.retries += max(reply.tries - 1, 0)
        self.usage += reply.usage
        self.cost += reply.cost or 0.0
        self.unpriced += reply.cost is None
        self.seconds += reply.seconds

    def add_failure(self, tries: int) -> None:
        """Count a request that failed after `tries` attempts."""
        self.asks += 1
        self.retries += tries - 1

    def add_outcome(self, outcome: "ToolOutcome") -> None:
        self.seconds += outcome.seconds

    def check(self, limits: AgentLimits) -> None:
        """Raise AgentStopped for the first limit that is reached."""
        if self.asks >= limits.rounds:
            raise AgentStopped(Reason.ROUNDS, f"the task is not finished after {self.asks} model calls")
        if limits.tokens is not None and self.usage.total >= limits.tokens:
            raise AgentStopped(Reason.TOKENS, f"used {self.usage.total} tokens, limit {limits.tokens}")
        if limits.cost is not None and self.cost >= limits.cost:
            raise AgentStopped(Reason.COST, f"spent {self.cost:.4f} dollars, limit {limits.cost:g}")
        if self.seconds >= limits.seconds:
            raise AgentStopped(Reason.TIME, f"took {self.seconds:.1f} s, limit {limits.seconds:g} s")


@dataclass
class AnswerCounts:
    """Counts of tool calls in a turn and of unusable answers; a count that reaches its limit raises AgentStopped."""

    limits: AgentLimits
    calls: int = 0
    malformed: int = 0
    reasks: int = 0
    _made: Counter[str] = field(default_factory=Counter)

    def begin_turn(self) -> None:
        """Reset the counts of tool calls and of unusable answers at the start of a task."""
        self.calls = self.malformed = 0
        self._made.clear()

    @property
    def calls_left(self) -> int:
        """The number of tool calls that the turn may still have."""
        return max(0, self.limits.tool_calls - self.calls)

    def forget_calls(self) -> None:
        """Allow the same calls again, after a compaction."""
        self._made.clear()

    def check_call(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Count a tool call; raises AgentStopped if it exceeds `tool_calls` or reaches `same_call`."""
        if self.calls >= self.limits.tool_calls:
            raise AgentStopped(Reason.TOOL_CALLS, f"reached the limit of {self.calls} tool calls in one turn")
        made = json.dumps([name, arguments], sort_keys=True)
        self._made[made] += 1
        if self._made[made] >= self.limits.same_call:
            raise AgentStopped(Reason.REPEATED, f"{name} was called {self._made[made]} times with the same arguments")
        self.calls += 1

    def add_malformed(self, problem: str) -> None:
        """Count another consecutive answer that is unusable; raises AgentStopped at the limit."""
        self.malformed += 1
        if self.malformed >= self.limits.malformed:
            raise AgentStopped(Reason.MALFORMED, f"{self.malformed} answers in a row could not be used: {problem}")

    def add_reask(self, problem: str) -> None:
        """Count another request for a report; raises AgentStopped above the limit."""
        self.reasks += 1
        if self.reasks > self.limits.reasks:
            raise AgentStopped(
                Reason.INCONCLUSIVE, f"no valid report after {self.limits.reasks} more requests: {problem}"
            )


# The message history of a conversation, and its estimated size in tokens.

# The system prompt, the task, an answer and its result.
MESSAGES_BEFORE_COMPACTION = 4
# The length of unusable answers after shortening, in tokens.
REFUSED_TOKENS = 2_000


class Session:
    """The messages of one conversation, and the values that listeners store (`user_data`).

    The `opening` precedes the first message after the system prompt: it holds what differs between conversations, so
    that providers can cache the system prompt.
    """

    def __init__(self, system: str, opening: str = "") -> None:
        self.messages = [Message("system", system)]
        self._opening = opening
        self.turn = 1
        self.rounds = 0
        self.user_data: dict[str, object] = {}
        self.task = ""
        self._calibration = Calibration()
        self._counted = estimate_message(self.messages[0])
        self._tools = 0

    def begin(self, task: str) -> None:
        """Append the message of a new task, which starts a turn."""
        self.turn = len(self.messages)
        self.task = task
        self.say(Message("user", task))

    def close_turn(self, note: str) -> None:
        """Append a note as the answer of a turn that ended without one: some providers want the roles to alternate."""
        if self.messages[-1].role in ("user", "tool"):
            self.say(Message("assistant", note))

    def say(self, message: Message) -> None:
        if len(self.messages) == 1 and not message.content.startswith(self._opening):
            message = replace(message, content=f"{self._opening}\n\n{message.content}")
        self.messages.append(message)
        self._counted += estimate_message(message)

    def answer(self, reply: Reply, calls: Sequence[ToolCall] = ()) -> None:
        """Append an answer of the model, and calibrate the token estimate with its reported usage."""
        self._calibration = self._calibration.learn(self.estimated, reply.usage.prompt)
        self.rounds += 1
        self.say(
            Message(
                "assistant",
                reply.content,
                tuple(calls),
                reasoning=reply.reasoning,
                reasoning_items=reply.reasoning_items,
            )
        )

    def refuse(self, reply: Reply, problem: str) -> None:
        """Append an unusable answer without its calls, and a message that states the problem."""
        self.rounds += 1
        self.say(Message("assistant", shorten(reply.content, REFUSED_TOKENS) or "(no text)"))
        self.say(Message("user", problem))

    def set_tools(self, specs: tuple[ToolSpec, ...]) -> None:
        """Estimate the tokens of the tool descriptions that are sent with every request."""
        self._tools = estimate_tools(specs)

    @property
    def estimated(self) -> int:
        """The estimated number of tokens of the next request, without calibration."""
        return self._counted + self._tools

    @property
    def tokens(self) -> int:
        """The calibrated estimate of the number of tokens of the next request."""
        return self._calibration.tokens(self.estimated)

    def is_full(self, limits: AgentLimits, context: int) -> bool:
        """Return whether the history must be compacted; never before the first answer and its result."""
        if len(self.messages) < MESSAGES_BEFORE_COMPACTION:
            return False
        return (
            self.tokens > limits.compact_at * context
            or self.rounds >= limits.compact_rounds
            or len(self.messages) > limits.compact_messages
        )

    def restore(self, messages: list[Message], turn: int, rounds: int) -> None:
        """Replace the history after the system prompt with that of an earlier conversation."""
        self.messages = self.messages[:1]
        self._counted = estimate_message(self.messages[0])
        for message in messages:
            self.say(message)
        self.turn, self.rounds = turn, rounds

    def set_system(self, system: str) -> None:
        """Replace the system prompt; providers then cannot use their cached prefix."""
        self._counted -= estimate_message(self.messages[0])
        self.messages[0] = Message("system", system)
        self._counted += estimate_message(self.messages[0])

    def history(self) -> str:
        """Return all messages but the system prompt as Markdown."""
        return "\n\n".join(f"## {message.role}\n{message.content}" for message in self.messages[1:])

    def restart(self) -> None:
        """Remove the history after the system prompt."""
        self.messages = self.messages[:1]
        self.rounds, self._counted = 0, estimate_message(self.messages[0])
        self.turn = 1

    def clear(self, continuation: str) -> None:
        """Replace the history after the system prompt with the task and `continuation`."""
        self.restart()
        self.say(Message("user", f"{self.task}\n\n{continuation}"))
