"""How many requests of this process are at a provider at once.

A 429 halves the number and holds everybody back for as long as the server says; every hundred answers without one
raise it again by a tenth, up to what the group allows.  Who waits is served in the order of coming.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

CALM = 100
RAISE = 1.1
AT_ONCE_SECONDS = 1.0


class Gate:
    """Slots of one provider and model; `wait` and `wait_async` raise TimeoutError."""

    def __init__(self, most: int, now: Callable[[], float] = time.monotonic) -> None:
        self.most, self.allowed, self.inside = most, most, 0
        self._now, self._closed_until, self._lowered_at = now, 0.0, -AT_ONCE_SECONDS
        self._answers = 0
        self._lock = threading.Lock()
        self._waiting: deque[Callable[[], None]] = deque()

    @contextmanager
    def slot(self, seconds: float) -> Iterator[None]:
        """Hold a slot while the block lasts."""
        deadline = self._now() + seconds
        while (pause := self._enter_or_queue((wake := threading.Event()).set)) is not None:
            left = deadline - self._now()
            wake.wait(min(pause, max(left, 0.0)))
            self._unqueue(wake.set, gives_up=left <= 0)
            if left <= 0:
                raise TimeoutError
        try:
            yield
        finally:
            self._leave()

    @asynccontextmanager
    async def slot_async(self, seconds: float) -> AsyncIterator[None]:
        """Hold a slot while the block lasts, and let others run meanwhile."""
        deadline = self._now() + seconds
        while (pause := self._enter_or_queue(ring := _bell(wake := asyncio.Event()))) is not None:
            left = deadline - self._now()
            gives_up = True
            try:
                with suppress(TimeoutError):
                    await asyncio.wait_for(wake.wait(), min(pause, max(left, 0.0)))
                gives_up = left <= 0
            finally:
                self._unqueue(ring, gives_up=gives_up)
            if gives_up:
                raise TimeoutError
        try:
            yield
        finally:
            self._leave()

    def slow_down(self, seconds: float | None) -> None:
        """Take in that the provider has had enough; the many who are told so at once count as one."""
        with self._lock:
            now = self._now()
            if now >= self._lowered_at + AT_ONCE_SECONDS:
                self.allowed, self._lowered_at = max(self.allowed // 2, 1), now
            self._answers = 0
            self._closed_until = max(self._closed_until, now + (seconds or 0.0))

    def note_answer(self) -> None:
        """Take in that the provider answered."""
        with self._lock:
            self._answers += 1
            if self._answers >= CALM and self.allowed < self.most:
                self._answers = 0
                self.allowed = min(int(self.allowed * RAISE) + 1, self.most)
                self._wake_one()

    def _enter_or_queue(self, ring: Callable[[], None]) -> float | None:
        """Enter and return None, or queue up and return how long to wait at most before looking again."""
        with self._lock:
            closed = self._closed_until - self._now()
            if closed <= 0 and self.inside < self.allowed:
                self.inside += 1
                return None
            self._waiting.append(ring)
            return closed if closed > 0 else float("inf")

    def _unqueue(self, ring: Callable[[], None], *, gives_up: bool) -> None:
        """Leave the queue; who was woken and gives up wakes the next."""
        with self._lock:
            if ring in self._waiting:
                self._waiting.remove(ring)
            elif gives_up:
                self._wake_one()

    def _leave(self) -> None:
        with self._lock:
            self.inside -= 1
            self._wake_one()

    def _wake_one(self) -> None:
        if self._waiting:
            self._waiting.popleft()()


def _bell(wake: asyncio.Event) -> Callable[[], None]:
    loop = asyncio.get_running_loop()

    def ring() -> None:
        loop.call_soon_threadsafe(wake.set)

    return ring
