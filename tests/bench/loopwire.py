"""A wire of asyncio's own with kept connections: what the least client there can be costs, beside the one in use."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from jarvis_workers.platforms.wire import Body, Unreachable


class LoopWire:
    """A server that speaks chat.completions, asked over plain sockets."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        self._place = (parts.hostname or "", parts.port or 80)
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def send_async(self, body: Body, seconds: float) -> bytes:
        text = json.dumps(body).encode()
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(text)
        async with asyncio.timeout(seconds):
            reader, writer = self._idle.pop() if self._idle else await asyncio.open_connection(*self._place)
            writer.write(head + text)
            answer = (await reader.readuntil(b"\r\n\r\n")).lower()
            found = await reader.readexactly(int(answer.split(b"content-length:")[1].split(b"\r\n")[0]))
        self._idle.append((reader, writer))
        return found

    def send(self, body: Body, seconds: float) -> bytes:
        raise Unreachable("only for loops")

    def stream(self, body: Body, seconds: float) -> Iterator[Mapping[str, Any]]:
        raise Unreachable("only for loops")
