"""MCP servers of a conversation: connections in an event loop in a thread of their own.

The thread is not a daemon, so that the process cannot end before the servers, whose end is bounded in time.  The set
of tools is fixed when the servers are open.  A server that does not start is told in one line, and the others go on.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from jarvis_workers.agents.mcp_client.server_files import servers_or_files
from jarvis_workers.agents.tools.tool import Tool, ToolFailed
from jarvis_workers.errors import UsageError
from jarvis_workers.extras import require
from jarvis_workers.futures import settle
from jarvis_workers.settings.mcp_servers import McpServer

if TYPE_CHECKING:
    from jarvis_workers.agents.mcp_client.connection import Connection

CLOSE_SECONDS, MARGIN_SECONDS = 5.0, 10.0
ENDED = "the conversation has ended"


@contextmanager
def open_servers(servers: Sequence[McpServer], tell: Callable[[str], None]) -> Iterator[list[Tool]]:
    """Start the servers and yield their tools, which may be called from any thread; end the servers after the block."""
    running = McpServers(servers, tell)
    try:
        yield running.open()
    finally:
        running.close()
        running.join()


class McpServers:
    """Servers that are started by `open` and ended by `close`; `tell` gets one line for each that does not start.

    Without configured servers, they are those of the deprecated files.
    """

    def __init__(self, servers: Sequence[McpServer], tell: Callable[[str], None]) -> None:
        self._servers, self._tell = servers, tell
        self._lock = threading.Lock()
        self._tools: Future[list[Tool]] = Future()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._is_closed = False

    def open(self) -> list[Tool]:
        """Start the servers, and return the tools of those that have started."""
        self._servers = servers_or_files(self._servers, self._tell)
        if not self._servers:
            return []
        try:
            require("assistant", "MCP")
        except UsageError as problem:
            self._tell(f"the MCP servers are not used: {problem}")
            return []
        with self._lock:
            if self._is_closed:
                return []
            self._thread = threading.Thread(target=self._run, name="mcp", daemon=False)
            self._thread.start()
        return self._tools.result()

    def close(self) -> None:
        """Let the servers end, without waiting; pending calls fail. May be called from any thread, at any time."""
        with self._lock:
            self._is_closed = True
            if self._loop and self._stop:
                with suppress(RuntimeError):  # the loop is closed
                    self._loop.call_soon_threadsafe(self._stop.set)

    def join(self) -> None:
        """Wait until the servers have ended."""
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        ended = settle(Future[None](), asyncio.run, self._serve())
        if not self._tools.done():
            error = ended.exception()
            assert error is not None
            self._tools.set_exception(error)

    async def _serve(self) -> None:
        # In this thread, since it takes a second.
        from jarvis_workers.agents.mcp_client.connection import Connection, silence_sdk  # noqa: PLC0415

        silence_sdk()
        stop = asyncio.Event()
        with self._lock:
            self._loop, self._stop = asyncio.get_running_loop(), stop
            if self._is_closed:
                stop.set()
        connections = [] if stop.is_set() else [Connection(server) for server in self._servers]
        stopped: asyncio.Future[Any] = asyncio.create_task(stop.wait())
        try:
            started: asyncio.Future[Any] = asyncio.gather(*(one.ready.wait() for one in connections))
            await asyncio.wait([started, stopped], return_when=asyncio.FIRST_COMPLETED)
            started.cancel()
            self._tools.set_result([] if stop.is_set() else list(self._offer(connections)))
            await stopped
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await asyncio.gather(*(one.close() for one in connections))

    def _offer(self, connections: "Sequence[Connection]") -> Iterator[Tool]:
        from jarvis_workers.agents.mcp_client.server_tools import tools_of  # noqa: PLC0415

        for connection in connections:
            if connection.problem:
                self._tell(f'MCP server "{connection.server.name}" does not start: {connection.problem}')
            else:
                yield from tools_of(connection, self._wait, self._tell)

    def _wait(self, connection: "Connection", call: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Run a coroutine of a connection from a tool's thread and return its result. Raises ToolFailed."""
        server, coroutine = connection.server, call()
        assert self._loop is not None
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError as closed:
            coroutine.close()
            raise ToolFailed(f'MCP server "{server.name}": {ENDED}') from closed
        try:
            error = future.exception(server.call_seconds + MARGIN_SECONDS)
        except (CancelledError, TimeoutError) as cancelled:
            raise ToolFailed(f'MCP server "{server.name}": {ENDED}') from cancelled
        if error:
            raise ToolFailed(f'MCP server "{server.name}": {connection.describe(error)}') from error
        return future.result()
