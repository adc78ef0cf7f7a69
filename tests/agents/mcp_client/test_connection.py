"""The connection to one server, over a transport that a test controls."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("mcp")

from mcp import MCPError
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from jarvis_workers.agents.mcp_client import connection as module
from jarvis_workers.agents.mcp_client.connection import Connection
from jarvis_workers.settings.mcp_servers import McpServer

INITIALIZED = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "a", "version": "1"}}


def test_a_closed_stream_is_told_with_the_reason_that_its_transport_raises_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert asyncio.run(_failure(monkeypatch)) == "the event is too large"


async def _failure(monkeypatch: pytest.MonkeyPatch) -> str:
    told = asyncio.Event()

    @asynccontextmanager
    async def streams(_: McpServer) -> AsyncIterator[Any]:
        async with create_client_server_memory_streams() as (client, (requests, answers)), asyncio.TaskGroup() as group:

            async def serve() -> None:
                first: Any = (await requests.receive()).message
                await answers.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=first.id, result=INITIALIZED)))
                while getattr((await requests.receive()).message, "id", None) is None:
                    pass
                await answers.aclose()
                await told.wait()
                raise ValueError("the event is too large")

            group.create_task(serve())
            yield client

    monkeypatch.setattr(module, "http_streams", streams)
    opened = Connection(McpServer(name="sdk", type="sse", base_url="http://127.0.0.1:1/sse"))
    await opened.ready.wait()
    assert opened.problem == ""
    call = asyncio.create_task(opened.call_tool("act", {}))
    asyncio.get_running_loop().call_later(0.1, told.set)
    with pytest.raises(MCPError) as failed:
        await call
    await opened.close()
    return opened.describe(failed.value)
