"""The transcripts of many conversations in one file: one write and one fsync for all that wait.

Conversations of one process come to the disk together, several hundred times a second; a file each would mean a fsync
and a thread's turn each. A line begins with the name of its conversation; one that was not written whole is cut off
when the file is opened again.
"""

import asyncio
import os
import threading
from collections import defaultdict
from concurrent.futures import Future
from pathlib import Path

from jarvis_workers.agent.logfile import NEW_FILE, sync_directory
from jarvis_workers.errors import StoreFull, UsageError


class Journal:
    """One file, and the thread that writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = self._read()
        try:
            self._descriptor = os.open(path, NEW_FILE, 0o600)
            sync_directory(path.parent)
        except OSError as error:
            raise self._full(error) from error
        self._wake = threading.Condition()
        self._pending: list[bytes] = []
        self._waiting: list[Future[None]] = []
        self._waiting_in: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = defaultdict(list)
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def page(self, name: str) -> "Page":
        """Return the log of a conversation; its name has no blanks."""
        return Page(self, name.encode())

    def close(self) -> None:
        """Write what is left, and end the thread."""
        with self._wake:
            self._is_closed = True
            self._wake.notify()
        self._thread.join()
        os.close(self._descriptor)

    def known(self, name: bytes) -> list[bytes]:
        return list(self._known.get(name, ()))

    def append(self, line: bytes) -> None:
        with self._wake:
            self._pending.append(line)

    def wait(self) -> Future[None]:
        """Return what is done when all that was appended is safe."""
        future: Future[None] = Future()
        with self._wake:
            self._waiting.append(future)
            self._wake.notify()
        return future

    def wait_in_loop(self) -> "asyncio.Future[None]":
        """The same, for the loop that runs here."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        with self._wake:
            self._waiting_in[loop].append(future)
            self._wake.notify()
        return future

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._waiting or self._waiting_in or self._is_closed)
                lines, self._pending = self._pending, []
                waiting, self._waiting = self._waiting, []
                loops, self._waiting_in = self._waiting_in, defaultdict(list)
                is_last = self._is_closed and not waiting and not loops
            failure = self._save(b"".join(lines))
            for future in waiting:
                future.set_exception(failure) if failure else future.set_result(None)
            for loop, futures in loops.items():
                if not loop.is_closed():
                    loop.call_soon_threadsafe(_settle, futures, failure)
            if is_last:
                return

    def _save(self, text: bytes) -> StoreFull | None:
        try:
            while text:
                text = text[os.write(self._descriptor, text) :]
            os.fsync(self._descriptor)
        except OSError as error:
            return self._full(error)
        return None

    def _read(self) -> dict[bytes, list[bytes]]:
        found: dict[bytes, list[bytes]] = defaultdict(list)
        try:
            *lines, unfinished = self._path.read_bytes().split(b"\n")
            if unfinished:
                os.truncate(self._path, sum(len(line) + 1 for line in lines))
        except FileNotFoundError:
            return found
        except OSError as error:
            raise UsageError(f"{self._path}: cannot be read: {error.strerror}") from error
        for line in lines:
            name, _, text = line.partition(b" ")
            found[name].append(text)
        return found

    def _full(self, error: OSError) -> StoreFull:
        return StoreFull(f"{self._path}: cannot be written: {error.strerror}")


class Page:
    """The lines of one conversation."""

    def __init__(self, journal: Journal, name: bytes) -> None:
        self._journal, self._name = journal, name

    def lines(self) -> list[bytes]:
        return self._journal.known(self._name)

    def append(self, line: bytes) -> None:
        self._journal.append(b"%b %b\n" % (self._name, line))

    def sync(self) -> None:
        self._journal.wait().result()

    async def sync_async(self) -> None:
        await self._journal.wait_in_loop()

    def keep(self, count: int) -> None:
        raise UsageError(f"the journal is damaged: line {count + 1} of {self._name.decode()} is not what was written")


def _settle(futures: "list[asyncio.Future[None]]", failure: StoreFull | None) -> None:
    for future in futures:
        if not future.done():
            future.set_exception(failure) if failure else future.set_result(None)
