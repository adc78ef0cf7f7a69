"""Group commit: one transaction saves the records of all conversations that are waiting.

The conversations of one process write several hundred times a second; a separate write for each would cost one commit
and one thread switch each.  Items are saved only once a caller waits for them, so that a failure always reaches a
caller.  If the store is full or unavailable, the items remain queued, ahead of later ones: no line of a conversation is
saved before its predecessors.
"""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from jarvis_workers.errors import StoreFull, StoreUnavailable
from jarvis_workers.futures import settle
from jarvis_workers.telemetry import warning

T = TypeVar("T")


class Journal(Generic[T]):
    """A queue of items that a thread passes to `save` in batches; an exception from `save` is raised in all waiters."""

    def __init__(self, save: Callable[[list[T]], None]) -> None:
        self._save_all = save
        self._wake = threading.Condition()
        self._pending: list[T] = []
        self._due: list[T] = []
        self._waiting: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = defaultdict(list)
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Save the remaining items and end the thread."""
        with self._wake:
            self._is_closed = True
            self._call()
        self._thread.join()

    def append(self, item: T) -> None:
        """Add an item without waiting."""
        with self._wake:
            self._pending.append(item)

    def wait(self) -> "asyncio.Future[None]":
        """Return a future of the running event loop that is done once everything appended so far is saved."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        with self._wake:
            self._waiting[loop].append(future)
            self._call()
        return future

    def _call(self) -> None:
        self._due += self._pending
        self._pending = []
        self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._waiting or self._is_closed)
                items, self._due = self._due, []
                waiting, self._waiting = self._waiting, defaultdict(list)
                is_last = self._is_closed and not waiting
            failure = self._save(items)
            if failure and not waiting:
                warning("records lost", records=len(items), error=f"{type(failure).__name__}: {failure}")
            for loop, futures in waiting.items():
                if not loop.is_closed():
                    loop.call_soon_threadsafe(_settle, futures, failure)
            if is_last:
                return

    def _save(self, items: list[T]) -> BaseException | None:
        """Save items; return any exception, which all waiters get: if it ended the thread, they would wait forever."""
        if not items:
            return None
        failure = settle(Future[None](), self._save_all, items).exception()
        if isinstance(failure, StoreFull | StoreUnavailable):
            with self._wake:
                self._due[:0] = items
        return failure


def _settle(futures: "list[asyncio.Future[None]]", failure: BaseException | None) -> None:
    for future in futures:
        if not future.done():
            future.set_exception(failure) if failure else future.set_result(None)
