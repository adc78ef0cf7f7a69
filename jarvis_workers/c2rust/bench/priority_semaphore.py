"""A counting semaphore whose waiting threads are served by priority."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import Condition


class PrioritySemaphore:
    """Let at most `value` threads in; of those that wait, the one with the lowest priority number, then the first."""

    def __init__(self, value: int) -> None:
        self._free = value
        self._order = count()
        self._waiting: list[tuple[int, int]] = []
        self._changed = Condition()

    @contextmanager
    def hold(self, priority: int) -> Iterator[None]:
        """Wait until it is this thread's turn; let another in at the end of the block."""
        ticket = (priority, next(self._order))
        with self._changed:
            self._waiting.append(ticket)
            self._changed.wait_for(lambda: self._free > 0 and min(self._waiting) == ticket)
            self._waiting.remove(ticket)
            self._free -= 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._changed.notify_all()
