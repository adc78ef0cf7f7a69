"""The watchdog: terminate a process whose main loop hangs.

A thread counts the seconds since the last heartbeat.  The thread counts only time during which it is itself
running, so that a stopped process or a suspended machine does not count as a hang.
"""

import os
import threading
import time
from collections.abc import Callable

LOOK_SECONDS = 0.5
# The time limit for the last message, which may hang as well: on a full pipe, or on the logger's lock.
TELL_SECONDS = 2.0
EXIT_CODE = 70


class Watchdog:
    """Watches a loop that calls `feed` in every iteration.

    `alive_at` returns the monotonic time of an additional heartbeat; `tell` is called with the message before `end`
    is called with EXIT_CODE.
    """

    def __init__(
        self,
        seconds: float,
        tell: Callable[[str], None],
        *,
        alive_at: Callable[[], float] = lambda: 0.0,
        end: Callable[[int], object] = os._exit,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._seconds, self._tell, self._alive_at, self._end = seconds, tell, alive_at, end
        self._look_seconds = look_seconds
        self._quiet_seconds, self._stopping_seconds = 0.0, 0.0
        self._stop_seconds: float | None = None
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def feed(self) -> None:
        """Record a heartbeat of the loop."""
        self._quiet_seconds = 0.0

    def end_within(self, seconds: float) -> None:
        """End the process unless `close` is called within `seconds`. Safe in a signal handler."""
        self._stop_seconds = seconds

    def close(self) -> None:
        """Stop watching."""
        self._closed.set()

    def _watch(self) -> None:
        last, last_alive = time.monotonic(), self._alive_at()
        while not self._closed.wait(self._look_seconds):
            now, alive = time.monotonic(), self._alive_at()
            awake = min(now - last, 2 * self._look_seconds)
            self._quiet_seconds = self._quiet_seconds + awake if alive == last_alive else 0.0
            last, last_alive = now, alive
            if self._stop_seconds is not None:
                self._stopping_seconds += awake
                if self._stopping_seconds >= self._stop_seconds:
                    return self._give_up(f"has not stopped within {self._stopping_seconds:.0f} s")
            elif self._quiet_seconds >= self._seconds:
                return self._give_up(f"has hung for {self._quiet_seconds:.0f} s")

    def _give_up(self, why: str) -> None:
        says = threading.Thread(target=self._tell, args=[f"the main thread {why}; ending the process"], daemon=True)
        says.start()
        says.join(TELL_SECONDS)
        self._end(EXIT_CODE)
