"""The connection to one MCP server, in the event loop of `servers.McpServers`.

`keep` holds the connection in one task, as the SDK requires; calls come from other tasks.  Results are requested
without the SDK's validation of outputs, which would evaluate patterns and references of a schema of the server.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx2
from mcp import MCPError
from mcp.client.session import ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
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

from jarvis_workers.agents.mcp_client.stdio import MESSAGE_BYTES, stdio_streams
from jarvis_workers.paths import plain
from jarvis_workers.settings.mcp_servers import McpServer

# The HTTP transports, with bounded answers: SSE and streamable HTTP.

CONNECT_SECONDS = 30.0
# A server may be silent on its stream for as long as a conversation lasts.
READ_SECONDS = 86_400.0


class AnswerTooLarge(httpx2.StreamError):
    """An answer exceeds MESSAGE_BYTES, or is compressed."""


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MESSAGE_BYTES:
                raise AnswerTooLarge(f"an answer of more than {MESSAGE_BYTES // 1_000_000} MB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise AnswerTooLarge("a compressed answer, which has not been requested")
        if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            response.stream = _BoundedStream(response.stream)
        return response


def _client(
    headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
) -> httpx2.AsyncClient:
    limits = timeout or httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS)
    sent = {**(headers or {}), "accept-encoding": "identity"}
    return httpx2.AsyncClient(headers=sent, timeout=limits, auth=auth, transport=_BoundedTransport())


@asynccontextmanager
async def http_streams(server: McpServer) -> AsyncIterator[Any]:
    """Connect to the server and yield the streams of its messages."""
    assert server.base_url is not None
    headers = {name: one.get_secret_value() for name, one in server.headers.items()}
    if server.type == "sse":
        async with sse_client(
            server.base_url, headers, CONNECT_SECONDS, READ_SECONDS, httpx_client_factory=_client
        ) as streams:
            yield streams
        return
    async with (
        _client(headers) as client,
        streamable_http_client(server.base_url, http_client=client, max_sse_event_size=MESSAGE_BYTES) as streams,
    ):
        yield streams


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
