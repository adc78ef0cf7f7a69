"""The HTTP transports, with bounded answers: SSE and streamable HTTP.

The SDK limits the events of a stream; whole bodies are limited here.  Compressed answers are refused, since their size
is known only after decompression.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from jarvis_workers.agents.mcp_client.stdio import MESSAGE_BYTES
from jarvis_workers.settings.mcp_servers import McpServer

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
