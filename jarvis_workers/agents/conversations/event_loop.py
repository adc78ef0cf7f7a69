"""The event loop of conversations: coroutines of one asyncio loop, in a separate thread.

`start` returns a future, which raises the exception of the step, or CancelledError after a cancellation.
"""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress

from jarvis_workers.agents.conversations.deadline import DEADLINE
from jarvis_workers.errors import StepFailed
from jarvis_workers.store.values import Claimed, Commit

LAST_SECONDS = 2.0
# The threshold of the garbage collector, in objects: hundreds of conversations create few reference cycles; with the
# default threshold, collections take a tenth of their time.
MADE_AT_ONCE = 20_000

Converse = Callable[[], Awaitable[Commit]]


class ConversationLoop:
    """Runs conversations of at most `deadline_seconds` each, without pauses; `run` is the body of the thread."""

    def __init__(self, deadline_seconds: float) -> None:
        self.deadline_seconds = deadline_seconds
        self._loop = asyncio.new_event_loop()
        self._talks: dict[Claimed, asyncio.Task[Commit]] = {}
        self._called_off: set[Claimed] = set()
        self._is_over = False

    def run(self) -> None:
        """Run the event loop until `stop`."""
        gc.set_threshold(MADE_AT_ONCE, *gc.get_threshold()[1:])
        self._loop.run_forever()

    def stop(self) -> None:
        """Let `run` return once all conversations have ended, after LAST_SECONDS at the latest."""
        asyncio.run_coroutine_threadsafe(self._finish(), self._loop)

    def start(self, job: Claimed, converse: Converse) -> Future[Commit]:
        """Start the conversation of a job and return its future."""
        return asyncio.run_coroutine_threadsafe(self._converse(job, converse), self._loop)

    def cancel(self, job: Claimed) -> None:
        """Cancel the conversation of a job, if it is running."""
        # A conversation that was just started is registered in the next iteration of the loop.
        self._loop.call_soon_threadsafe(self._loop.call_soon, self._cancel, job)

    def cancel_all(self) -> None:
        """Cancel all conversations, and every conversation that starts from now on."""
        self._loop.call_soon_threadsafe(self._cancel_all)

    async def _finish(self) -> None:
        if self._talks:
            await asyncio.wait(self._talks.values(), timeout=LAST_SECONDS)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._loop.shutdown_asyncgens(), LAST_SECONDS)
        self._loop.stop()

    async def _converse(self, job: Claimed, converse: Converse) -> Commit:
        talk = asyncio.current_task()
        assert talk is not None
        self._talks[job] = talk
        if self._is_over:
            self._cancel(job)
        limit = asyncio.timeout(self.deadline_seconds)
        DEADLINE.set(limit)
        try:
            async with limit:
                return await converse()
        except TimeoutError as error:
            if limit.expired():
                raise StepFailed(f"took longer than {self.deadline_seconds:g} s") from error
            raise
        except (asyncio.CancelledError, SystemExit, KeyboardInterrupt) as error:
            if job in self._called_off:
                raise
            raise StepFailed(f"ended with {type(error).__name__}") from error
        finally:
            del self._talks[job]
            self._called_off.discard(job)

    def _cancel(self, job: Claimed) -> None:
        if job in self._talks:
            self._called_off.add(job)
            self._talks[job].cancel()

    def _cancel_all(self) -> None:
        self._is_over = True
        for job in list(self._talks):
            self._cancel(job)
