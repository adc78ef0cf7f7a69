"""A server made with the SDK: `sdk_server.py stdio`, or `sse|streamable|json FD` on a listening socket."""

import os
import signal
import sys

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("example", log_level="CRITICAL")


@server.tool()
def echo(text: str) -> str:
    """Repeat a text."""
    return f"echo: {text}"


@server.tool()
def fail() -> str:
    """Fail."""
    raise ToolError("the disk is full")


@server.tool()
def die() -> str:
    """End the server."""
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


@server.tool(structured_output=False)
def large() -> str:
    """Answer with 100 MB."""
    return "x" * 100_000_000


@server.resource("memo://one")
def memo() -> str:
    """The only memo."""
    return "remember the milk"


def main(transport: str, fd: str = "0") -> None:
    if transport == "stdio":
        server.run()
        return
    app = server.sse_app() if transport == "sse" else server.streamable_http_app(json_response=transport == "json")
    config = uvicorn.Config(app, fd=int(fd), log_level="critical", timeout_graceful_shutdown=1)
    anyio.run(uvicorn.Server(config).serve)


if __name__ == "__main__":
    main(*sys.argv[1:])
