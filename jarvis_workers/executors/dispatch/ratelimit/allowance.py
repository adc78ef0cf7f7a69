"""The leased allowance of one process for a model's shared limits: concurrency slots and start times granted by Redis.

The requests in flight never exceed the allowance.  During a report no further request starts, since the response may
reduce the allowance.  After an expired lease, requests in flight continue, but no request starts.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from jarvis_workers.models.ratelimit.adaptive import LONGEST_PAUSE, NEVER
from jarvis_workers.models.ratelimit.policy import RateLimitPolicy

# A report requests start times for at most this many waiting requests, more than can start before the next report.
TOKENS_AT_ONCE = 256


@dataclass(slots=True)
class UsageDelta:
    """The events since the last report: successes, 429s, and tokens (`debt`) used in excess of the estimates.

    The fields are named as in a report: `again` is the longest Retry-After in seconds, -1 without a 429;
    `refused_inside` the requests in flight at that time.
    """

    answers: int = 0
    again: float = -1.0
    refused_wave: int = -1
    refused_inside: int = 0
    debt: float = 0.0

    def add(self, other: "UsageDelta") -> None:
        """Merge the values of another report, which was not delivered."""
        self.answers += other.answers
        self.debt += other.debt
        if other.again >= 0:
            self.again, self.refused_wave = max(self.again, other.again), max(self.refused_wave, other.refused_wave)
            self.refused_inside = max(self.refused_inside, other.refused_inside)


class LeasedAllowance:
    """A `gate.Allowance` that Redis grants; `ask` is called once when more is needed than was granted.

    Times are those of `time.monotonic` in this process; responses give times relative to the clock of Redis.
    """

    def __init__(self, limits: RateLimitPolicy, lease_seconds: float, ask: Callable[[], None]) -> None:
        self.limits, self.lease_seconds, self._ask = limits, lease_seconds, ask
        self.in_flight = self.generation = 0
        self._wants_slots = self._wants_starts = False
        self._slots, self._leased_until, self._closed_until = 0, 0.0, 0.0
        self._rates, self.late = limits.rates, limits.late
        self._starts: deque[tuple[float, int]] = deque()
        self._delta, self._reported = UsageDelta(), UsageDelta()
        self._token_requests: Sequence[int] = ()

    def try_acquire(self, now: float, tokens: int) -> float:
        """Admit a request and return 0, or return the seconds after which to try again at the latest."""
        if now < self._closed_until:
            return self._closed_until - now
        if now >= self._leased_until or self.in_flight >= self._slots:
            return self._want(is_pending=self._wants_slots)
        if not self._has_start(now):
            return self._want(is_pending=self._wants_starts)
        if self._rates:
            start, expected = self._starts[0]
            if start > now:
                return start - now
            self._starts.popleft()
            self._delta.debt += tokens - expected
        self.in_flight += 1
        return 0.0

    def release(self) -> None:
        """Record that a request has ended."""
        self.in_flight -= 1

    def correct(self, tokens: int) -> None:
        """Charge the difference between actual and estimated tokens; it may be negative."""
        self._delta.debt += tokens

    def on_throttled(self, now: float, generation: int, seconds: float | None) -> None:
        """Apply a 429: at once in this process, and in all other processes with the next report."""
        self._closed_until = max(self._closed_until, now + min(seconds or 0.0, LONGEST_PAUSE))
        self._delta.add(UsageDelta(again=seconds or 0.0, refused_wave=generation, refused_inside=self.in_flight))
        self._starts.clear()
        self._ask()

    def on_success(self, generation: int) -> None:
        """Count a success of a request that was admitted in `generation`."""
        if generation == self.generation:
            self._delta.answers += 1

    def report(self, now: float, waiting: Sequence[int]) -> Mapping[str, Any]:
        """Return the report as JSON values, given the tokens of waiting requests; no slot is added until `apply`."""
        self._drop_late(now)
        slots = self._slots if now < self._leased_until else 0
        self._slots = min(slots, self.in_flight)
        self._token_requests = waiting[len(self._starts) : len(self._starts) + TOKENS_AT_ONCE] if self._rates else ()
        self._reported, self._delta = self._delta, UsageDelta()
        self._wants_slots = self._wants_starts = True
        return {
            "held": slots,
            "inside": self.in_flight,
            "demand": self.in_flight + len(waiting),
            "ready": len(self._starts),
            "tokens": list(self._token_requests),
            "wave": self.generation,
            "leaves": not self.in_flight and not waiting,
            "lease": self.lease_seconds,
            "most": self.limits.most,
            "rates": [
                {"name": f"{r.counts} {r.sooner}", "counts": r.counts, "each": 1 / r.per_second, "sooner": r.sooner}
                for r in self._rates
            ],
            **asdict(self._reported),
        }

    def apply(self, response: Mapping[str, Any], sent: float, received: float) -> None:
        """Apply the response to a report; the lease starts at the time at which the report was sent."""
        there = (sent + received) / 2
        self._slots, self._leased_until = int(response["granted"]), sent + self.lease_seconds
        if response["wave"] != self.generation:
            self.generation, self._delta.answers = int(response["wave"]), 0
        self._wants_slots, self._wants_starts = bool(response["wants_slots"]), bool(response["wants_starts"])
        if response["closed"] > 0:
            self._closed_until = max(self._closed_until, there + response["closed"])
        self._starts.extend(
            (there + start, tokens) for start, tokens in zip(response["starts"], self._token_requests, strict=False)
        )

    def requeue(self) -> None:
        """Add the values of an undelivered report to the next one."""
        self._delta.add(self._reported)

    def _has_start(self, now: float) -> bool:
        """Return whether a start time is left, or none is needed."""
        self._drop_late(now)
        return bool(self._starts) or not self._rates

    def _drop_late(self, now: float) -> None:
        """Drop start times that no request used in time, and credit their tokens."""
        while self._starts and self._starts[0][0] + self.late < now:
            _, expected = self._starts.popleft()
            self._delta.debt -= expected

    def _want(self, *, is_pending: bool) -> float:
        if not is_pending:
            self._ask()
        return NEVER
