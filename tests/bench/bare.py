"""Measure the minimum cost of requests: the same bodies sent by aiohttp, or by asyncio streams without aiohttp."""

import asyncio
import importlib
import importlib.util
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

CLIENT = "aiohttp" if importlib.util.find_spec("aiohttp") else "asyncio"

Send = Callable[[bytes], Awaitable[bytes]]


async def ask_all(url: str, bodies: Sequence[bytes], count: int) -> None:
    """Send the bodies one after the other over `count` concurrent connections; the answers are read and dropped."""
    async with {"aiohttp": _aiohttp, "asyncio": _streams}[CLIENT](f"{url}/chat/completions", count) as send:

        async def one() -> None:
            for body in bodies:
                json.loads(await send(body))

        await asyncio.gather(*(one() for _ in range(count)))


@asynccontextmanager
async def _aiohttp(url: str, most: int) -> AsyncIterator[Send]:
    aiohttp = importlib.import_module("aiohttp")

    async def send(body: bytes) -> bytes:
        async with session.post(url, data=body, headers={"content-type": "application/json"}) as answer:
            found: bytes = await answer.read()
            return found

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=most)) as session:
        yield send


@asynccontextmanager
async def _streams(url: str, _: int) -> AsyncIterator[Send]:
    parts = urlsplit(url)
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def send(body: bytes) -> bytes:
        reader, writer = idle.pop() if idle else await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % (parts.path.encode(), len(body)))
        writer.write(body)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        found = await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
        idle.append((reader, writer))
        return found

    try:
        yield send
    finally:
        for _reader, writer in idle:
            writer.close()
