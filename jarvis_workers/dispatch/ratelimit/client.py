"""The distributed rate limiter: all workers share the limits of a model through Redis.

One thread per process reports the requests in flight and waiting of each model to Redis, and gets an allowance leased
for LEASE_SECONDS. An allowance that is not renewed goes to other processes. A Redis without data grants no process
more than before for one lease. During an outage conversations wait, until the time limit of their task.
"""

import json
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import redis

from jarvis_workers.dispatch.broker import connect
from jarvis_workers.dispatch.outages import Outages
from jarvis_workers.dispatch.ratelimit.allowance import LeasedAllowance
from jarvis_workers.errors import BrokerUnavailable
from jarvis_workers.ratelimit.adaptive import CALM, LONGEST_DOUBLED, LONGEST_PAUSE, NEVER, RAISE, USUAL_PAUSE
from jarvis_workers.ratelimit.gate import FairQueue, LocalLimiter
from jarvis_workers.ratelimit.policy import MANY, Limiter, ModelKey, RateLimitPolicy
from jarvis_workers.telemetry import warning

KEY = "jarvis:limits:"
# What the script decides by; it has no constants of its own beside these but for how holders share.
POLICY = {
    "many": MANY,
    "calm": CALM,
    "raise": RAISE,
    "usual_pause": USUAL_PAUSE,
    "longest_doubled": LONGEST_DOUBLED,
    "longest_pause": LONGEST_PAUSE,
}
SCRIPT = Path(__file__).with_name("limits.lua")
LEASE_SECONDS = 5.0
RENEW_PART = 0.2
# Between two calls about a model, so that many who come one after the other are told of together.
GAP_SECONDS = 0.05
FIRST_WAIT, LONGEST_WAIT = 0.2, 2.0
LAST_SECONDS = 2.0


class SharedLimits:
    """The limits of all models for one process, which is called `holder`; `run` is for a thread."""

    def __init__(self, broker_url: str, holder: str, *, lease_seconds: float = LEASE_SECONDS) -> None:
        self._redis = connect(broker_url)
        self._holder, self._lease_seconds = holder, lease_seconds
        self._script = self._redis.register_script(SCRIPT.read_text(encoding="utf-8"))
        self._lines: dict[ModelKey, _Line] = {}
        self._wake, self._over, self._left = threading.Event(), threading.Event(), threading.Event()
        self._outages = Outages(
            lambda says: warning("limits", says=says), "conversations wait until Redis is available"
        )
        self._failures = 0
        self.calls = 0

    def limiter(self, model: ModelKey, limits: RateLimitPolicy) -> Limiter:
        """Return the gate of a model; where nothing is limited, 429s are each process's own."""
        if not limits.are_set:
            return LocalLimiter(limits)
        if model not in self._lines:
            self._lines[model] = _Line(model, limits, self._lease_seconds, self._wake.set)
            self._wake.set()
        return self._lines[model].turns

    def run(self) -> None:
        """Tell and be told until `close`."""
        while not self._over.is_set():
            self._wake.wait(self._pause())
            self._wake.clear()
            with self._outages.borne():
                self._exchange()
        with suppress(BrokerUnavailable):
            for line in list(self._lines.values()):
                self._call(line, leaves=True)
        self._redis.close()
        self._left.set()

    def close(self) -> None:
        """Give back what this process has, if Redis can be told."""
        self._over.set()
        self._wake.set()
        self._left.wait(LAST_SECONDS)

    def _pause(self) -> float | None:
        first = min((line.due_at for line in list(self._lines.values())), default=NEVER)
        return None if first == NEVER else max(first - time.monotonic(), 0.0)

    def _exchange(self) -> None:
        """Call for each model that it is time for; while Redis is away, seldom."""
        for line in list(self._lines.values()):
            if line.due_at <= time.monotonic():
                try:
                    self._call(line)
                except BrokerUnavailable:
                    self._failures += 1
                    self._wait_for_redis()
                    raise
                self._failures = 0

    def _wait_for_redis(self) -> None:
        pause = min(FIRST_WAIT * 2.0 ** min(self._failures - 1, 8), LONGEST_WAIT) * random.uniform(0.5, 1.0)
        for line in list(self._lines.values()):
            line.rest(pause, at_least=pause)

    def _call(self, line: "_Line", *, leaves: bool = False) -> None:
        sent = time.monotonic()
        renew = self._lease_seconds * RENEW_PART
        with line.turns.changing() as waiting:
            told = {"holder": self._holder, "renew": renew, "policy": POLICY, **line.share.tell(sent, waiting)}
        told["leaves"] |= leaves
        self.calls += 1
        try:
            answer = json.loads(self._script(keys=[line.key], args=[json.dumps(told)]))
        except (redis.RedisError, OSError) as error:
            with line.turns.changing():
                line.share.was_not_heard()
            raise BrokerUnavailable(f"cannot read the model rate limits from Redis: {error}") from error
        with line.turns.changing():
            line.share.take(answer, sent, time.monotonic())
            line.rest(NEVER if told["leaves"] else max(answer["wait"] * random.uniform(0.8, 1.0), GAP_SECONDS))


class _Line:
    """Those who wait for a model, what this process may do with it, and when to ask for more."""

    def __init__(
        self, model: ModelKey, limits: RateLimitPolicy, lease_seconds: float, wake: Callable[[], None]
    ) -> None:
        self.key = KEY + sha256(f"{model.base_url}\n{model.model}".encode()).hexdigest()[:32]
        self.share = LeasedAllowance(limits, lease_seconds, self._ask)
        self.turns = FairQueue(self.share)
        self.due_at, self._not_before = 0.0, 0.0
        self._wake = wake

    def rest(self, seconds: float, *, at_least: float = GAP_SECONDS) -> None:
        """Call again in so many seconds, or when more is wanted, though not before `at_least`."""
        now = time.monotonic()
        self.due_at, self._not_before = now + seconds, now + at_least

    def _ask(self) -> None:
        soon = max(time.monotonic(), self._not_before)
        if soon < self.due_at:
            self.due_at = soon
            self._wake()
