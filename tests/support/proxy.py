"""A TCP proxy in front of a server, with the faults of networks: connections that stall, are cut, delayed or refused.

A stalled connection stays open and silent: the kernel of the proxy acknowledges data, and nothing is forwarded, not
even a close.
"""

import asyncio
import re
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

CHUNK_BYTES = 65536
# The start of a command in the protocol of Redis.
REDIS_COMMAND = re.compile(rb"(?:\A|(?<=\r\n))\*\d+\r\n")


class Link:
    """A client's connection through the proxy. Data passes while `gate` is set."""

    def __init__(self, writers: tuple[asyncio.StreamWriter, asyncio.StreamWriter]) -> None:
        self.writers, self.gate = writers, asyncio.Event()
        self.halve_next = self.is_mute = False
        self.gate.set()

    def cut(self) -> None:
        """Reset both sides."""
        for writer in self.writers:
            writer.transport.abort()


class Proxy:
    """Forwards connections to `port` to a unix socket, or to a port of this machine; faults may be set at any time."""

    def __init__(self, upstream: Path | int) -> None:
        self.port = 0
        self._upstream = upstream
        self._links: set[Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._delay_seconds, self._refuse, self._stall_new = 0.0, False, False
        self._unanswered: bytes | None = None
        self._reply: bytes | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def stall(self, *, new: bool = False) -> None:
        """Stall all open connections; with `new` also new ones."""

        def stall() -> None:
            self._stall_new = new
            for link in self._links:
                link.gate.clear()

        self._call(stall)

    def accept(self) -> None:
        """Forward new connections; stalled ones stay stalled."""

        def accept() -> None:
            self._stall_new = self._refuse = False
            self._reply = None
            self._delay_seconds = 0.0

        self._call(accept)

    def resume(self) -> None:
        """End all faults; data that was held back is forwarded."""

        def resume() -> None:
            for link in self._links:
                link.gate.set()

        self.accept()
        self._call(resume)

    def cut(self) -> None:
        """Reset all open connections."""
        self._call(lambda: [link.cut() for link in self._links])

    def refuse(self) -> None:
        """Reset all open connections, and new ones immediately."""

        def refuse() -> None:
            self._refuse = True

        self._call(refuse)
        self.cut()

    def halve(self) -> None:
        """Forward the first half of the next message of every open connection, then reset it."""

        def halve() -> None:
            for link in self._links:
                link.halve_next = True

        self._call(halve)

    def lose_answer(self, request: bytes) -> None:
        """Forward the next message that contains `request`, and reset its connection when the answer arrives."""

        def lose() -> None:
            self._unanswered = request

        self._call(lose)

    def delay(self, seconds: float) -> None:
        """Delay every message."""

        def delay() -> None:
            self._delay_seconds = seconds

        self._call(delay)

    def reply_to_redis(self, error: str) -> None:
        """Answer each command of Redis clients with an error, such as "LOADING Redis is loading"."""

        def reply() -> None:
            self._reply = f"-{error}\r\n".encode()

        self._call(reply)

    @property
    def loses_answer(self) -> bool:
        """Whether `lose_answer` is still waiting for its request."""
        return self._unanswered is not None

    @property
    def connections(self) -> int:
        """The number of open connections."""
        return len(self._links)

    def start(self) -> None:
        self._thread.start()
        self.port = self._run(self._listen())

    def stop(self) -> None:
        """Close all connections and stop."""
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _close(self) -> None:
        self._server.close()
        for link in self._links:
            link.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        try:
            if self._refuse:
                writer.transport.abort()
            else:
                await self._forward(reader, writer)
        except (OSError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._tasks.discard(task)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if isinstance(self._upstream, Path):
            there, to_there = await asyncio.open_unix_connection(str(self._upstream))
        else:
            there, to_there = await asyncio.open_connection("127.0.0.1", self._upstream)
        link = Link((writer, to_there))
        if self._stall_new:
            link.gate.clear()
        self._links.add(link)
        try:
            await asyncio.gather(self._pump(link, reader, to_there), self._pump(link, there, writer))
        finally:
            link.cut()
            self._links.discard(link)

    async def _pump(self, link: Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while chunk := await reader.read(CHUNK_BYTES):
                await link.gate.wait()
                if self._reply and writer is link.writers[1]:
                    link.writers[0].write(self._reply * len(REDIS_COMMAND.findall(chunk)))
                    continue
                if self._delay_seconds:
                    await asyncio.sleep(self._delay_seconds)
                if link.halve_next:
                    writer.write(chunk[: len(chunk) // 2])
                    await writer.drain()
                    break
                if link.is_mute:
                    break
                if self._unanswered and self._unanswered in chunk:
                    link.is_mute, self._unanswered = True, None
                writer.write(chunk)
                await writer.drain()
            await link.gate.wait()
        if link.halve_next or link.is_mute:
            link.cut()
        writer.close()

    def _call(self, do: Any) -> None:
        async def run() -> None:
            do()

        self._run(run())

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)


@contextmanager
def proxy_to(upstream: Path | int) -> Iterator[Proxy]:
    """Run a proxy during the block."""
    proxy = Proxy(upstream)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
