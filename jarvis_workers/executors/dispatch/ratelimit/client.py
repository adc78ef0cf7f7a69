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
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import redis

from jarvis_workers.errors import BrokerUnavailable
from jarvis_workers.executors.dispatch.broker import connect
from jarvis_workers.executors.dispatch.broker_errors import broker_error
from jarvis_workers.executors.dispatch.outages import Outages
from jarvis_workers.executors.dispatch.ratelimit.allowance import LeasedAllowance
from jarvis_workers.models.ratelimit.adaptive import (
    LONGEST_DOUBLED,
    LONGEST_PAUSE,
    NEVER,
    RAISE,
    ROUND_MAX,
    USUAL_PAUSE,
)
from jarvis_workers.models.ratelimit.gate import FairQueue, LocalLimiter
from jarvis_workers.models.ratelimit.policy import MANY, Limiter, ModelKey, RateLimitPolicy
from jarvis_workers.telemetry import warning

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
