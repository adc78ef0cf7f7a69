"""The connection to one MCP server, in the event loop of `servers.McpServers`.

`keep` holds the connection in one task, as the SDK requires; calls come from other tasks.  Results are requested
without the SDK's validation of outputs, which would evaluate patterns and references of a schema of the server.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeVar

from mcp import MCPError
from mcp.client.session import ClientSession
from mcp_types import (
    CONNECTION_CLOSED,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesRequest,
    ListResourcesResult,
    ListToolsRequest,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequest,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    Tool,
)
from pydantic import BaseModel, ValidationError

from jarvis_workers.agents.mcp_client.http import http_streams
from jarvis_workers.agents.mcp_client.stdio import stdio_streams
from jarvis_workers.paths import plain
from jarvis_workers.settings.mcp_servers import McpServer

PAGES_MAX = 10
SAYS_MAX = 300
REASON_SECONDS = 1.0
# The SDK logs what servers send, with tracebacks, under these names.
SDK_LOGGERS = ("mcp", "client")

R = TypeVar("R", bound=BaseModel)


def silence_sdk() -> None:
    """Keep the SDK's log records, which quote servers, from the terminal and from the logs."""
    for name in SDK_LOGGERS:
        logger = logging.getLogger(name)
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())


class Connection:
    """A connection to a server. `ready` is set once it has started or failed; `problem` is the reason of a failure."""

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self.ready = asyncio.Event()
        self.problem = ""
        self.tools: list[Tool] = []
        self.has_resources = False
        self._note = ""
        self._session: ClientSession | None = None
        self._task = asyncio.create_task(self._keep(), name=f"mcp {server.name}")
        self._task.add_done_callback(self._conclude)

    async def close(self) -> None:
        """End the connection and the server."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Call a tool of the server."""
        parameters = CallToolRequestParams(name=name, arguments=dict(arguments))
        return await self._request(CallToolRequest(params=parameters), CallToolResult)

    async def list_resources(self) -> list[Resource]:
        """Return the resources of the server, as they are now."""
        return [one async for page in self._pages(ListResourcesRequest, ListResourcesResult) for one in page.resources]

    async def read_resource(self, uri: str) -> ReadResourceResult:
        """Read a resource of the server."""
        return await self._request(ReadResourceRequest(params=ReadResourceRequestParams(uri=uri)), ReadResourceResult)

    def describe(self, error: BaseException) -> str:
        """Return why a start or a call failed, in one line."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        match error:
            case TimeoutError():
                return "it did not answer in time"
            case MCPError() if error.error.code == CONNECTION_CLOSED:
                return self._note or self.problem or _line(error.error.message)
            case MCPError():
                return _line(error.error.message)
            case ValidationError():
                return "its answer does not follow the protocol"
            case OSError(strerror=str(reason)):
                return f"{self.server.command or self.server.base_url}: {reason}"
        return _line(str(error)) or type(error).__name__

    async def _keep(self) -> None:
        """Open the connection, and keep it until the task is cancelled."""
        streams = http_streams(self.server) if self.server.base_url else stdio_streams(self.server, self._take_note)
        async with asyncio.timeout(self.server.start_seconds) as limit:
            async with streams as (incoming, outgoing), ClientSession(incoming, outgoing) as session:
                self._session = session
                result = await session.initialize()
                self.has_resources = result.capabilities.resources is not None
                if result.capabilities.tools is not None:
                    pages = self._pages(ListToolsRequest, ListToolsResult)
                    self.tools = [tool async for page in pages for tool in page.tools]
                limit.reschedule(None)
                self.ready.set()
                await asyncio.Event().wait()

    def _take_note(self, says: str) -> None:
        self._note = _line(says)

    def _conclude(self, task: "asyncio.Task[None]") -> None:
        error = None if task.cancelled() else task.exception()
        self.problem = self.describe(error) if error else "the conversation has ended"
        self.ready.set()

    async def _pages(self, request: Any, result_type: type[R]) -> AsyncIterator[R]:
        cursor = None
        for _ in range(PAGES_MAX):
            page = await self._request(request(params=PaginatedRequestParams(cursor=cursor)), result_type)
            yield page
            cursor = getattr(page, "next_cursor", None)
            if not cursor:
                return
        raise ValueError(f"it lists more than {PAGES_MAX} pages")

    async def _request(self, request: Any, result_type: type[R]) -> R:
        """Send a request. Raises MCPError, TimeoutError, ValidationError, and what the transport raises."""
        if self._task.done() or self._session is None:
            raise ConnectionError(self.problem)
        async with asyncio.timeout(self.server.call_seconds):
            try:
                return await self._session.send_request(request, result_type)
            except MCPError as error:
                if error.error.code == CONNECTION_CLOSED:
                    # The transport closes its stream before the task ends with the reason.
                    await asyncio.wait([self._task], timeout=REASON_SECONDS)
                raise


def _line(text: str) -> str:
    return plain(" ".join(text.split()))[:SAYS_MAX]
