"""Who may send a request now: those who wait are served in the order of coming.

How many may be on and how fast they may follow each other is asked of an allowance: that of this process (`pace`), or
one that is shared with others.  Only the first of those who wait looks at the clock.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Protocol

from jarvis_workers.ratelimit.adaptive import AimdLimiter
from jarvis_workers.ratelimit.policy import Limiter, ModelKey, RateLimitPolicy
from jarvis_workers.ratelimit.token_calibration import Calibration

TIMES_LATE = 3


class Allowance(Protocol):
    """How many may be on, and when the next; called by one at a time. A wave ends with a 429.

    Who begins later than `late` seconds after it was let in must wait again.
    """

    wave: int
    late: float

    def enter(self, now: float, tokens: int) -> float:
        """Let one in and return 0, or return how long to wait at most before asking again."""
        ...

    def leave(self) -> None:
        """Let one out."""
        ...

    def correct(self, tokens: int) -> None:
        """Take in that so many more tokens were used than was said."""
        ...

    def slow_down(self, now: float, wave: int, seconds: float | None) -> None:
        """Take in a 429 to a request that was let in during `wave`."""
        ...

    def note_answer(self, wave: int) -> None:
        """Take in an answer to a request that was let in during `wave`."""
        ...


class FairQueue:
    """The line before an allowance, for threads and loops alike; `slot` and `slot_async` raise TimeoutError."""

    def __init__(self, allowance: Allowance, now: Callable[[], float] = time.monotonic) -> None:
        self._allowance, self._now = allowance, now
        self._lock = threading.Lock()
        self._line: deque[_Waiter] = deque()
        self._calibration = Calibration()

    @contextmanager
    def slot(self, seconds: float, tokens: int = 0) -> Iterator["Permit"]:
        """Hold a turn while the block lasts."""
        waiter = self._queue((wake := threading.Event()).set, seconds, tokens)
        try:
            while not waiter.turn:
                wake.wait(self._nap(waiter))
                wake.clear()
                self._look(waiter)
                self._go_back_if_late(waiter)
            yield waiter.turn
        finally:
            self._go(waiter)

    @asynccontextmanager
    async def slot_async(self, seconds: float, tokens: int = 0) -> AsyncIterator["Permit"]:
        """Hold a turn while the block lasts, and let others run meanwhile."""
        waiter = self._queue(_bell(wake := asyncio.Event()), seconds, tokens)
        try:
            while not waiter.turn:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._nap(waiter)):
                        await wake.wait()
                wake.clear()
                self._look(waiter)
                self._go_back_if_late(waiter)
            yield waiter.turn
        finally:
            self._go(waiter)

    @contextmanager
    def changing(self) -> Iterator[list[int]]:
        """Hold all still while the allowance changes, given the tokens of those who wait; then serve them."""
        with self._lock:
            yield [waiter.tokens for waiter in self._line]
            self._serve()

    def slow_down(self, wave: int, seconds: float | None) -> None:
        with self._lock:
            self._allowance.slow_down(self._now(), wave, seconds)

    def note_answer(self, waiter: "_Waiter", wave: int, tokens: int) -> None:
        with self._lock:
            self._allowance.note_answer(wave)
            if tokens:
                self._allowance.correct(tokens - waiter.tokens)
                self._calibration = self._calibration.learn(waiter.said, tokens)
            self._serve()

    def _queue(self, ring: Callable[[], None], seconds: float, tokens: int) -> "_Waiter":
        with self._lock:
            waiter = _Waiter(ring, self._now() + seconds, tokens, self._calibration.tokens(tokens))
            self._line.append(waiter)
            self._serve(waiter)
            return waiter

    def _serve(self, caller: "_Waiter | None" = None) -> None:
        """Let in all who may; the first of the others is told when to look again. Nobody is told who calls."""
        while self._line:
            first, now = self._line[0], self._now()
            wait = self._allowance.enter(now, first.tokens)
            sooner = now + wait < first.look_at
            if wait <= 0:
                self._line.popleft()
                first.turn, first.let_in_at = Permit(self, first, self._allowance.wave), now
            elif sooner or first is caller:
                first.look_at = now + wait
            if first is not caller and (wait <= 0 or sooner):
                first.ring()
            if wait > 0:
                return

    def _nap(self, waiter: "_Waiter") -> float:
        return max(min(waiter.look_at, waiter.deadline) - self._now(), 0.0)

    def _look(self, waiter: "_Waiter") -> None:
        """Serve, if it is this one's to see to it; raises TimeoutError when it is too late for it."""
        with self._lock:
            if self._line and self._line[0] is waiter:
                self._serve(waiter)
            if not waiter.turn and self._now() >= waiter.deadline:
                raise TimeoutError

    def _go_back_if_late(self, waiter: "_Waiter") -> None:
        """Be the first in the line again, if this one was let in, but held up; not for ever."""
        with self._lock:
            if waiter.turn and waiter.goes_back and self._now() - waiter.let_in_at > self._allowance.late:
                waiter.turn, waiter.look_at = None, self._now()
                waiter.goes_back -= 1
                self._line.appendleft(waiter)
                self._allowance.leave()
                self._allowance.correct(-waiter.tokens)

    def _go(self, waiter: "_Waiter") -> None:
        """Leave, or give up."""
        with self._lock:
            if waiter.turn:
                self._allowance.leave()
            else:
                self._line.remove(waiter)
            self._serve()


class LocalLimiter(FairQueue):
    """The turns of one process: so many at once, or within all limits."""

    def __init__(self, limits: int | RateLimitPolicy, now: Callable[[], float] = time.monotonic) -> None:
        self.pace = AimdLimiter(RateLimitPolicy(limits) if isinstance(limits, int) else limits)
        super().__init__(self.pace, now)


def in_process(_: ModelKey, limits: RateLimitPolicy) -> Limiter:
    """Return a gate for one process alone."""
    return LocalLimiter(limits)


class Permit:
    """The turn of one request, which was let in during a wave."""

    __slots__ = ("_turns", "_waiter", "_wave")

    def __init__(self, turns: FairQueue, waiter: "_Waiter", wave: int) -> None:
        self._turns, self._waiter, self._wave = turns, waiter, wave

    def note_answer(self, tokens: int) -> None:
        self._turns.note_answer(self._waiter, self._wave, tokens)

    def slow_down(self, seconds: float | None) -> None:
        self._turns.slow_down(self._wave, seconds)


class _Waiter:
    """One in the line: `said` is what it said of its tokens, `tokens` what that is likely to mean."""

    __slots__ = ("deadline", "goes_back", "let_in_at", "look_at", "ring", "said", "tokens", "turn")

    def __init__(self, ring: Callable[[], None], deadline: float, said: int, tokens: int) -> None:
        self.ring, self.deadline, self.said, self.tokens = ring, deadline, said, tokens
        self.look_at, self.let_in_at, self.goes_back = float("inf"), 0.0, TIMES_LATE
        self.turn: Permit | None = None


def _bell(wake: asyncio.Event) -> Callable[[], None]:
    loop = asyncio.get_running_loop()

    def ring() -> None:
        loop.call_soon_threadsafe(wake.set)

    return ring
