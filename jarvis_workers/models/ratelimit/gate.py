"""The queue in front of a model: waiting requests are admitted first come, first served.

An allowance, local to this process (`policy`) or shared with others (`executors.dispatch.ratelimit`), limits how many
requests may be in flight and when the next may start.  Only the first waiting request polls the clock.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Protocol

from jarvis_workers.models.ratelimit.policy import AimdLimiter, Limiter, ModelKey, RateLimitPolicy
from jarvis_workers.models.ratelimit.token_calibration import Calibration

# After this many readmissions a late request starts anyway; otherwise a busy event loop might never send it.
READMISSIONS = 3


class Allowance(Protocol):
    """Limits how many requests may be in flight and when the next may start; the caller holds a lock.

    A 429 ends a `generation` of requests. A request that starts more than `late` seconds after its admission must
    queue again.
    """

    generation: int
    late: float

    def try_acquire(self, now: float, tokens: int) -> float:
        """Admit a request and return 0, or return the seconds after which to try again at the latest."""

    def release(self) -> None:
        """Record that a request has ended."""

    def correct(self, tokens: int) -> None:
        """Charge the difference between actual and estimated tokens; it may be negative."""

    def on_throttled(self, now: float, generation: int, seconds: float | None) -> None:
        """Apply a 429 to a request that was admitted in `generation`; `seconds` is its Retry-After."""

    def on_success(self, generation: int) -> None:
        """Record the success of a request that was admitted in `generation`."""


class FairQueue:
    """FIFO queue in front of an allowance, shared by event loops; `slot` raises TimeoutError."""

    def __init__(self, allowance: Allowance, now: Callable[[], float] = time.monotonic) -> None:
        self._allowance, self._now = allowance, now
        self._lock = threading.Lock()
        self._waiting: deque[_Waiter] = deque()
        self._calibration = Calibration()

    @asynccontextmanager
    async def slot(self, seconds: float, tokens: int = 0) -> AsyncIterator["Permit"]:
        """Wait for a permit for at most `seconds` and hold it during the block; `tokens` is an estimate."""
        waiter = self._enqueue(_waker(wake := asyncio.Event()), seconds, tokens)
        try:
            while not waiter.permit:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._timeout(waiter)):
                        await wake.wait()
                wake.clear()
                self._check(waiter)
                self._requeue_if_late(waiter)
            yield waiter.permit
        finally:
            self._leave(waiter)

    @contextmanager
    def changing(self) -> Iterator[list[int]]:
        """Lock the queue while the allowance changes; yield the tokens of waiting requests, then admit requests."""
        with self._lock:
            yield [waiter.tokens for waiter in self._waiting]
            self._admit()

    def on_throttled(self, generation: int, seconds: float | None) -> None:
        with self._lock:
            self._allowance.on_throttled(self._now(), generation, seconds)

    def on_success(self, waiter: "_Waiter", generation: int, tokens: int) -> None:
        with self._lock:
            self._allowance.on_success(generation)
            if tokens:
                self._allowance.correct(tokens - waiter.tokens)
                self._calibration = self._calibration.learn(waiter.estimated, tokens)
            self._admit()

    def _enqueue(self, wake: Callable[[], None], seconds: float, tokens: int) -> "_Waiter":
        with self._lock:
            waiter = _Waiter(wake, self._now() + seconds, tokens, self._calibration.tokens(tokens))
            self._waiting.append(waiter)
            self._admit(waiter)
            return waiter

    def _admit(self, caller: "_Waiter | None" = None) -> None:
        """Admit and wake all requests that may start, and set the time at which the first of the others checks again.

        The request of the caller is not woken, since its thread is already running.
        """
        while self._waiting:
            first, now = self._waiting[0], self._now()
            wait = self._allowance.try_acquire(now, first.tokens)
            sooner = now + wait < first.check_at
            if wait <= 0:
                self._waiting.popleft()
                first.permit, first.admitted_at = Permit(self, first, self._allowance.generation), now
            elif sooner or first is caller:
                first.check_at = now + wait
            if first is not caller and (wait <= 0 or sooner):
                first.wake()
            if wait > 0:
                return

    def _timeout(self, waiter: "_Waiter") -> float:
        return max(min(waiter.check_at, waiter.deadline) - self._now(), 0.0)

    def _check(self, waiter: "_Waiter") -> None:
        """Admit requests if this one is the first in the queue; raises TimeoutError after its deadline."""
        with self._lock:
            if self._waiting and self._waiting[0] is waiter:
                self._admit(waiter)
            if not waiter.permit and self._now() >= waiter.deadline:
                raise TimeoutError

    def _requeue_if_late(self, waiter: "_Waiter") -> None:
        """Return an admitted but delayed request to the head of the queue, READMISSIONS times at most."""
        with self._lock:
            if waiter.permit and waiter.readmissions and self._now() - waiter.admitted_at > self._allowance.late:
                waiter.permit, waiter.check_at = None, self._now()
                waiter.readmissions -= 1
                self._waiting.appendleft(waiter)
                self._allowance.release()
                self._allowance.correct(-waiter.tokens)

    def _leave(self, waiter: "_Waiter") -> None:
        """Release the permit, or leave the queue if the request has none."""
        with self._lock:
            if waiter.permit:
                self._allowance.release()
            else:
                self._waiting.remove(waiter)
            self._admit()


class LocalLimiter(FairQueue):
    """A limiter for one process, given a number of concurrent requests or a policy."""

    def __init__(self, limits: int | RateLimitPolicy, now: Callable[[], float] = time.monotonic) -> None:
        self.pace = AimdLimiter(RateLimitPolicy(limits) if isinstance(limits, int) else limits)
        super().__init__(self.pace, now)


def in_process(_: ModelKey, limits: RateLimitPolicy) -> Limiter:
    """Return a limiter that is local to this process."""
    return LocalLimiter(limits)


class Permit:
    """The permit of one request (`policy.RequestPermit`), admitted in a generation."""

    __slots__ = ("_generation", "_queue", "_waiter")

    def __init__(self, queue: FairQueue, waiter: "_Waiter", generation: int) -> None:
        self._queue, self._waiter, self._generation = queue, waiter, generation

    def on_success(self, tokens: int) -> None:
        self._queue.on_success(self._waiter, self._generation, tokens)

    def on_throttled(self, seconds: float | None) -> None:
        self._queue.on_throttled(self._generation, seconds)


class _Waiter:
    """A request in the queue; `estimated` is its estimated number of tokens, `tokens` the calibrated estimate."""

    __slots__ = ("admitted_at", "check_at", "deadline", "estimated", "permit", "readmissions", "tokens", "wake")

    def __init__(self, wake: Callable[[], None], deadline: float, estimated: int, tokens: int) -> None:
        self.wake, self.deadline, self.estimated, self.tokens = wake, deadline, estimated, tokens
        self.check_at, self.admitted_at, self.readmissions = float("inf"), 0.0, READMISSIONS
        self.permit: Permit | None = None


def _waker(event: asyncio.Event) -> Callable[[], None]:
    loop = asyncio.get_running_loop()

    def wake() -> None:
        loop.call_soon_threadsafe(event.set)

    return wake
