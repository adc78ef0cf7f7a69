"""What limits a model has, and what a conversation asks of whoever keeps them.

A limit on a rate is kept by pacing, not by counting: requests are spread evenly over PACE of what is allowed, since a
provider sees them a little sooner or later than they were sent, and counts over spans that nobody else knows.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

MANY = 100_000
PACE = 0.92
# How much sooner than evenly requests may follow each other, in seconds, for limits of a second and of a minute; and
# how late one may be: what was held up must not come all at once.
SOONER_SECOND, SOONER_MINUTE = 0.03, 2.0
LATE_SECOND, LATE_MINUTE = 0.03, 0.8

Counts = Literal["requests", "tokens"]


@dataclass(frozen=True, slots=True)
class Rate:
    """So many a second are begun on average; `sooner` and `late` are in seconds."""

    counts: Counts
    per_second: float
    sooner: float
    late: float

    def cost(self, tokens: int) -> float:
        """Return the seconds that a request takes of it."""
        return (tokens if self.counts == "tokens" else 1) / self.per_second


@dataclass(frozen=True, slots=True)
class RateLimitPolicy:
    """What a provider allows of one model; None is no limit."""

    concurrent: int | None = None
    requests_per_second: float | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    @property
    def are_set(self) -> bool:
        return self != RateLimitPolicy()

    @property
    def most(self) -> int:
        """How many requests may be on at once."""
        return self.concurrent or MANY

    @property
    def rates(self) -> tuple[Rate, ...]:
        """All limits on rates, in seconds."""
        second, minute = (SOONER_SECOND, LATE_SECOND), (SOONER_MINUTE, LATE_MINUTE)
        asked: tuple[tuple[Counts, float | None, int, tuple[float, float]], ...] = (
            ("requests", self.requests_per_second, 1, second),
            ("requests", self.requests_per_minute, 60, minute),
            ("tokens", self.tokens_per_minute, 60, minute),
        )
        return tuple(Rate(counts, PACE * most / span, *slack) for counts, most, span, slack in asked if most)

    @property
    def late(self) -> float:
        """After how many seconds a request that may begin must wait for its turn once more."""
        return min((rate.late for rate in self.rates), default=float("inf"))


class Turn(Protocol):
    """Leave to send one request; who has one says what came of it."""

    def note_answer(self, tokens: int) -> None:
        """Take in that the provider answered, and how many tokens it counted."""
        ...

    def slow_down(self, seconds: float | None) -> None:
        """Take in that the provider has had enough, and for how long it wants to be left alone."""
        ...


class Limiter(Protocol):
    """Keeps the limits of one provider and model; both forms raise TimeoutError."""

    def slot(self, seconds: float, tokens: int = 0) -> AbstractContextManager[Turn]:
        """Wait so long at most for leave to send one request of about so many tokens; it lasts as the block does."""
        ...

    def slot_async(self, seconds: float, tokens: int = 0) -> AbstractAsyncContextManager[Turn]:
        """The same, and others run meanwhile."""
        ...


@dataclass(frozen=True, slots=True)
class ModelKey:
    """A provider and a model, by which limits are shared; nothing of this is a secret but parts of the address."""

    base_url: str
    model: str


MakeLimiter = Callable[[ModelKey, RateLimitPolicy], Limiter]
