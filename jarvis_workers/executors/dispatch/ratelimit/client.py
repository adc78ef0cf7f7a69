"""The distributed rate limiter: all workers share the limits of a model through Redis.

One thread per process reports the requests in flight and waiting of each model to Redis, and gets an allowance leased
for LEASE_SECONDS. An allowance that is not renewed is granted to other processes. For LEASE_SECONDS after Redis
has lost its data, no process is granted more than before. During an outage conversations wait until the time limit of
their task.
"""

import json
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import redis

from jarvis_workers.errors import BrokerUnavailable
from jarvis_workers.executors.dispatch.broker import connect
from jarvis_workers.executors.dispatch.broker_errors import broker_error
from jarvis_workers.executors.dispatch.outages import Outages
from jarvis_workers.models.ratelimit.gate import FairQueue, LocalLimiter
from jarvis_workers.models.ratelimit.policy import (
    LONGEST_DOUBLED,
    LONGEST_PAUSE,
    MANY,
    NEVER,
    RAISE,
    ROUND_MAX,
    USUAL_PAUSE,
    Limiter,
    ModelKey,
    RateLimitPolicy,
)
from jarvis_workers.telemetry import warning

# The leased allowance of one process for a model's shared limits: concurrency slots and start times granted by
# Redis.

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


KEY = "jarvis:limits:"
# The policy for the script; the script itself defines only constants for sharing between processes.
POLICY = {
    "many": MANY,
    "calm": ROUND_MAX,
    "raise": RAISE,
    "usual_pause": USUAL_PAUSE,
    "longest_doubled": LONGEST_DOUBLED,
    "longest_pause": LONGEST_PAUSE,
}
SCRIPT = Path(__file__).with_name("limits.lua")
# How long the allowance of a dead process is unavailable to the others. Leases are renewed after a fifth of this time,
# so that four renewals may fail.
LEASE_SECONDS = 5.0
RENEW_PART = 0.2
# The minimum interval between two calls for a model, so that one call reports many requests.
GAP_SECONDS = 0.05
# Back-off between calls while Redis is unavailable, in seconds.
FIRST_WAIT, LONGEST_WAIT = 0.2, 2.0
# How long `close` waits for the last report.
LAST_SECONDS = 2.0


class SharedLimits:
    """The shared limits of all models for one process; `holder` is its unique name, `run` is the body of a thread.

    `calls` counts the calls of Redis. While Redis is unavailable, slots wait and raise TimeoutError at their deadline.
    """

    def __init__(self, broker_url: str, holder: str, *, lease_seconds: float = LEASE_SECONDS) -> None:
        self._redis = connect(broker_url)
        self._holder, self._lease_seconds = holder, lease_seconds
        self._script = self._redis.register_script(SCRIPT.read_text(encoding="utf-8"))
        self._models: dict[ModelKey, _SharedModel] = {}
        self._wake, self._over, self._left = threading.Event(), threading.Event(), threading.Event()
        self._outages = Outages(
            lambda says: warning("limits", says=says), "conversations wait until Redis is available"
        )
        self._failures = 0
        self.calls = 0

    def limiter(self, model: ModelKey, limits: RateLimitPolicy) -> Limiter:
        """Return the limiter of a model; without limits it is local, and a 429 slows down only this process."""
        if not limits.are_set:
            return LocalLimiter(limits)
        if model not in self._models:
            self._models[model] = _SharedModel(model, limits, self._lease_seconds, self._wake.set)
            self._wake.set()
        return self._models[model].queue

    def run(self) -> None:
        """Report to Redis and apply its grants until `close`."""
        while not self._over.is_set():
            self._wake.wait(self._pause())
            self._wake.clear()
            with self._outages.tolerated():
                self._exchange()
        with suppress(BrokerUnavailable):
            for shared in list(self._models.values()):
                self._call(shared, leaves=True)
        self._redis.close()
        self._left.set()

    def close(self) -> None:
        """Release the allowances of this process, if Redis is available."""
        self._over.set()
        self._wake.set()
        self._left.wait(LAST_SECONDS)

    def _pause(self) -> float | None:
        first = min((shared.due_at for shared in list(self._models.values())), default=NEVER)
        return None if first == NEVER else max(first - time.monotonic(), 0.0)

    def _exchange(self) -> None:
        """Call Redis for each model that is due; back off while Redis is unavailable."""
        for shared in list(self._models.values()):
            if shared.due_at <= time.monotonic():
                try:
                    self._call(shared)
                except BrokerUnavailable:
                    self._failures += 1
                    self._wait_for_redis()
                    raise
                self._failures = 0

    def _wait_for_redis(self) -> None:
        pause = min(FIRST_WAIT * 2.0 ** min(self._failures - 1, 8), LONGEST_WAIT) * random.uniform(0.5, 1.0)
        for shared in list(self._models.values()):
            shared.rest(pause, at_least=pause)

    def _call(self, shared: "_SharedModel", *, leaves: bool = False) -> None:
        sent = time.monotonic()
        report: dict[str, Any] = {"holder": self._holder, "policy": POLICY}
        report["renew"] = self._lease_seconds * RENEW_PART
        with shared.queue.changing() as waiting:
            report |= shared.allowance.report(sent, waiting)
        report["leaves"] |= leaves
        self.calls += 1
        try:
            response = json.loads(self._script(keys=[shared.key], args=[json.dumps(report)]))
        except (redis.RedisError, OSError) as error:
            with shared.queue.changing():
                shared.allowance.requeue()
            raise broker_error(error, "cannot read the model rate limits from Redis") from error
        with shared.queue.changing():
            shared.allowance.apply(response, sent, time.monotonic())
            wait = max(response["wait"] * random.uniform(0.8, 1.0), GAP_SECONDS)
            shared.rest(NEVER if report["leaves"] else wait)


class _SharedModel:
    """The queue of a model in this process, its allowance, and when the next report is due."""

    def __init__(
        self, model: ModelKey, limits: RateLimitPolicy, lease_seconds: float, wake: Callable[[], None]
    ) -> None:
        self.key = KEY + sha256(f"{model.base_url}\n{model.model}".encode()).hexdigest()[:32]
        self.allowance = LeasedAllowance(limits, lease_seconds, self._ask)
        self.queue = FairQueue(self.allowance)
        self.due_at, self._not_before = 0.0, 0.0
        self._wake = wake

    def rest(self, seconds: float, *, at_least: float = GAP_SECONDS) -> None:
        """Report again after `seconds`, or earlier if more is needed, but not before `at_least` seconds."""
        now = time.monotonic()
        self.due_at, self._not_before = now + seconds, now + at_least

    def _ask(self) -> None:
        soon = max(time.monotonic(), self._not_before)
        if soon < self.due_at:
            self.due_at = soon
            self._wake()
