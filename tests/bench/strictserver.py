"""A model server that counts concurrent and new requests, and rejects some: rate limits as seen by a provider."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.bench.modelserver import answer
from tests.support.servers import free_port

REFUSED = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 2\r\n\r\n{}"


class StrictServer:
    """Answers after a fixed time, with a call in all but the last of `answers` answers of a conversation."""

    def __init__(self, seconds: float, answers: int, storm: tuple[float, float] = (0.0, 0.0)) -> None:
        self.port = free_port()
        self.began: list[float] = []
        self.now = self.most = self.refused = self.finished = 0
        self._seconds, self._answers, self._storm = seconds, answers, storm
        self._bodies = [answer(asked, answers - 1) for asked in range(answers)]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def fullest(self, span: float) -> int:
        """Return the maximum number of requests that began within one time span."""
        first, most = 0, 0
        for last, at in enumerate(self.began):
            while self.began[first] <= at - span:
                first += 1
            most = max(most, last - first + 1)
        return most

    def pace(self) -> float:
        """Return the number of requests per second, without the first and the last tenth."""
        early, late = len(self.began) // 10, len(self.began) * 9 // 10
        return (late - early) / (self.began[late] - self.began[early])

    async def run(self, ready: threading.Event) -> None:
        """Serve until killed."""
        async with await asyncio.start_server(self._speak, "127.0.0.1", self.port, backlog=4096, limit=1 << 22) as here:
            ready.set()
            await here.serve_forever()

    async def _speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                asked = (await reader.readexactly(length)).count(b'"assistant"')
                writer.write(await self._answer(asked))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, asked: int) -> bytes:
        self.began.append(time.monotonic())
        if self._storm[0] <= self.began[-1] - self.began[0] < self._storm[1]:
            self.refused += 1
            return REFUSED
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self._seconds)
        self.now -= 1
        self.finished += asked == self._answers - 1
        body = self._bodies[min(asked, self._answers - 1)]
        return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body


@contextmanager
def strict_server(seconds: float, answers: int, storm: tuple[float, float] = (0.0, 0.0)) -> Iterator[StrictServer]:
    """Run a server in a separate event loop during the block."""
    server, loop, ready = StrictServer(seconds, answers, storm), asyncio.new_event_loop(), threading.Event()

    def serve() -> None:
        # It should see requests when they come, whatever else is on.
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -10)
        task = loop.create_task(server.run(ready))
        loop.run_forever()
        task.cancel()
        for one in asyncio.all_tasks(loop):
            one.cancel()
        loop.run_until_complete(asyncio.gather(*asyncio.all_tasks(loop), return_exceptions=True))
        loop.close()

    thread = threading.Thread(target=serve)
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
