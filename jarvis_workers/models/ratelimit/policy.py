"""The rate limits of a model, and the interface of rate limiters.

Rates are paced, not counted: requests are spread evenly over PACE of the limit, since a provider receives them a
little earlier or later than they were sent, and its counting window is unknown.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

# A concurrency that means unlimited.
MANY = 100_000
# The part of a rate that is used.  Measured (tests/bench/test_limits.py): at 0.94 a window of one second had one
# request more than a limit of 100, at 0.92 none.
PACE = 0.92
# GCRA's tolerance (how long before its scheduled time a request may start), and how late a request may start before it
# must queue again, both in seconds, for limits per second and per minute.  Late requests would otherwise start
# together: a stalled event loop exceeded a limit of 100 a second by 22 requests.
SOONER_SECOND, SOONER_MINUTE = 0.03, 2.0
LATE_SECOND, LATE_MINUTE = 0.03, 0.8

Counts = Literal["requests", "tokens"]


@dataclass(frozen=True, slots=True)
class Rate:
    """A paced rate: `per_second` units start per second on average; tolerances `sooner` and `late` in seconds."""

    counts: Counts
    per_second: float
    sooner: float
    late: float

    def cost(self, tokens: int) -> float:
        """Return the increment of GCRA for a request, in seconds."""
        return (tokens if self.counts == "tokens" else 1) / self.per_second


@dataclass(frozen=True, slots=True)
class RateLimitPolicy:
    """The limits of a provider for one model; None means unlimited."""

    concurrent: int | None = None
    requests_per_second: float | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    @property
    def are_set(self) -> bool:
        """Whether there is any limit."""
        return self != RateLimitPolicy()

    @property
    def most(self) -> int:
        """The number of requests that may be in flight at once."""
        return self.concurrent or MANY

    @property
    def rates(self) -> tuple[Rate, ...]:
        """All rate limits, converted to units per second and reduced by PACE."""
        second, minute = (SOONER_SECOND, LATE_SECOND), (SOONER_MINUTE, LATE_MINUTE)
        configured: tuple[tuple[Counts, float | None, int, tuple[float, float]], ...] = (
            ("requests", self.requests_per_second, 1, second),
            ("requests", self.requests_per_minute, 60, minute),
            ("tokens", self.tokens_per_minute, 60, minute),
        )
        return tuple(Rate(counts, PACE * most / span, *slack) for counts, most, span, slack in configured if most)

    @property
    def late(self) -> float:
        """The seconds after which an admitted request that has not started must queue again; inf without rates."""
        return min((rate.late for rate in self.rates), default=float("inf"))


class RequestPermit(Protocol):
    """Permission to send one request; its holder reports the outcome."""

    def on_success(self, tokens: int) -> None:
        """Report an answer, and the tokens of prompt and completion that the provider counted (0: unknown)."""

    def on_throttled(self, seconds: float | None) -> None:
        """Report a 429, and its Retry-After in seconds if it has one."""


class Limiter(Protocol):
    """Admits the requests to one model; raises TimeoutError."""

    def slot(self, seconds: float, tokens: int = 0) -> AbstractAsyncContextManager[RequestPermit]:
        """Wait at most `seconds` to send a request of about `tokens` tokens; it is in flight during the block."""


@dataclass(frozen=True, slots=True)
class ModelKey:
    """The key of a set of shared limits: a provider's address and a model. The address may contain credentials."""

    base_url: str
    model: str


MakeLimiter = Callable[[ModelKey, RateLimitPolicy], Limiter]
