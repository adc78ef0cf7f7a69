"""MCP servers in real processes, and their configurations."""

import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jarvis_workers.settings.mcp_servers import McpServer

PLACE = Path(__file__).parent
END_SECONDS = 30.0
SDK, RAW = str(PLACE / "sdk_server.py"), str(PLACE / "raw_server.py")


def raw(way: str = "", *more: str, name: str = "raw", **limits: Any) -> McpServer:
    """Return a server without the SDK that behaves in a way of `raw_server`."""
    return McpServer(name=name, type="stdio", command=sys.executable, args=(RAW, way, *more), **limits)


def has_ended(pid: int) -> bool:
    """Wait for the end of a process that has been killed, which the kernel may still be doing."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], END_SECONDS)[0])
    finally:
        os.close(process)


@contextmanager
def serve(transport: str, **limits: Any) -> Iterator[McpServer]:
    """Return a server made with the SDK; one of HTTP runs during the block."""
    if transport == "stdio":
        yield McpServer(name="sdk", type="stdio", command=sys.executable, args=(SDK, "stdio"), **limits)
        return
    # Connections are queued by the socket until the server accepts them.
    with socket.create_server(("127.0.0.1", 0)) as listening:
        number, port = listening.fileno(), listening.getsockname()[1]
        process = subprocess.Popen([sys.executable, SDK, transport, str(number)], pass_fds=[number])
    kind, path = ("sse", "sse") if transport == "sse" else ("streamable", "mcp")
    try:
        yield McpServer(name="sdk", type=kind, base_url=f"http://127.0.0.1:{port}/{path}", **limits)
    finally:
        process.kill()
        process.wait()
