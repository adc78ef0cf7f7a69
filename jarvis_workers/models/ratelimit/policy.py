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


# Rate limiter of one process: AIMD for concurrency, GCRA for requests and tokens per interval.

ROUND_MAX = 100
RAISE = 1.1
# Seconds.  The pause after the second consecutive 429 is twice Retry-After, or twice USUAL_PAUSE if the server sends
# none, up to LONGEST_DOUBLED: a provider that refuses for 30 s gets five probes.
USUAL_PAUSE, LONGEST_DOUBLED = 1.0, 30.0
# A longer Retry-After is cut to this, in seconds: one absurd header must not block a model forever.
LONGEST_PAUSE = 600.0
NEVER = float("inf")


class AimdLimiter:
    """Concurrency and rates of one model in one process (`gate.Allowance`). Not thread-safe; `gate.FairQueue` locks."""

    def __init__(self, limits: RateLimitPolicy) -> None:
        self.most = self.allowed = limits.most
        self.late = limits.late
        self.in_flight = self.generation = 0
        self._refused = self._successes = 0
        self._closed_until = 0.0
        self._buckets = [GcraBucket(rate) for rate in limits.rates]

    def try_acquire(self, now: float, tokens: int) -> float:
        """Admit a request and return 0, or return the seconds after which to try again at the latest."""
        if now < self._closed_until:
            return self._closed_until - now
        if self.in_flight >= self.allowed:
            return NEVER
        wait = max((bucket.wait(now) for bucket in self._buckets), default=0.0)
        if wait > 0:
            return wait
        for bucket in self._buckets:
            bucket.take(now, tokens)
        self.in_flight += 1
        return 0.0

    def release(self) -> None:
        """Record that a request has ended."""
        self.in_flight -= 1

    def correct(self, tokens: int) -> None:
        """Charge the difference between actual and estimated tokens; it may be negative."""
        for bucket in self._buckets:
            bucket.correct(tokens)

    def on_throttled(self, now: float, generation: int, seconds: float | None) -> None:
        """Apply a 429 to a request that was admitted in `generation`; `seconds` is its Retry-After."""
        pause = min(seconds or 0.0, LONGEST_PAUSE)
        if generation == self.generation:
            self.allowed = max(min(self.allowed, self.in_flight) // 2, 1)
            self.generation += 1
            if self._refused:
                pause = max(pause, min((pause or USUAL_PAUSE) * 2.0 ** min(self._refused, 9), LONGEST_DOUBLED))
            self._refused += 1
            self._successes = 0
        self._closed_until = max(self._closed_until, now + pause)

    def on_success(self, generation: int) -> None:
        """Record the success of a request that was admitted in `generation`."""
        if generation != self.generation:
            return
        self._refused = 0
        self._successes += 1
        if self.allowed < self.most and self._successes >= min(self.allowed, ROUND_MAX):
            self._successes = 0
            self.allowed = min(int(self.allowed * RAISE) + 1, self.most)


class GcraBucket:
    """The GCRA state of one rate: the theoretical arrival time (TAT) of the next request, in seconds."""

    def __init__(self, rate: Rate) -> None:
        self._rate, self._arrival = rate, 0.0

    def wait(self, now: float) -> float:
        """Return the seconds until TAT minus the tolerance (`Rate.sooner`)."""
        return max(self._arrival - self._rate.sooner - now, 0.0)

    def take(self, now: float, tokens: int) -> None:
        """Advance TAT by the cost of a request."""
        self._arrival = max(self._arrival, now) + self._rate.cost(tokens)

    def correct(self, tokens: int) -> None:
        """Advance TAT by the error of a token estimate; a rate of requests has no such error."""
        if self._rate.counts == "tokens":
            self._arrival += self._rate.cost(tokens)
