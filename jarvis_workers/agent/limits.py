"""How far a conversation may go. Each limit has a reason of its own to stop for; what ends there is undecided."""

from dataclasses import dataclass, field
from enum import StrEnum

from jarvis_workers.errors import AgentStopped
from jarvis_workers.platforms.protocol import Reply, TokenUsage
from jarvis_workers.tools.tool import ToolOutcome


class Reason(StrEnum):
    """Why a conversation ended without a result."""

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


def are_to_blame(reason: str) -> bool:
    """Say whether answers that could not be read ended a conversation: they would end the next in the same way."""
    return reason in (Reason.MALFORMED, Reason.INCONCLUSIVE)


@dataclass(frozen=True)
class AgentLimits:
    """None is no limit; tokens, cost (dollars) and seconds count answers and tools together."""

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
    """What a conversation has taken so far."""

    asks: int = 0
    retries: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost: float = 0.0
    seconds: float = 0.0

    def add_reply(self, reply: Reply) -> None:
        self.asks += 1
        self.retries += max(reply.tries - 1, 0)
        self.usage += reply.usage
        self.cost += reply.cost
        self.seconds += reply.seconds

    def add_failure(self, tries: int) -> None:
        """Take in a question that was not answered: who fails has asked as well."""
        self.asks += 1
        self.retries += tries - 1

    def add_outcome(self, outcome: ToolOutcome) -> None:
        self.seconds += outcome.seconds

    def check(self, limits: AgentLimits) -> None:
        """Raise AgentStopped at the first limit that is reached."""
        if self.asks >= limits.rounds:
            raise AgentStopped(Reason.ROUNDS, f"the model was asked {self.asks} times and has not finished")
        if limits.tokens is not None and self.usage.total >= limits.tokens:
            raise AgentStopped(Reason.TOKENS, f"used {self.usage.total} tokens, limit {limits.tokens}")
        if limits.cost is not None and self.cost >= limits.cost:
            raise AgentStopped(Reason.COST, f"spent {self.cost:.4f} dollars, limit {limits.cost:g}")
        if self.seconds >= limits.seconds:
            raise AgentStopped(Reason.TIME, f"took {self.seconds:.1f} s, limit {limits.seconds:g} s")
