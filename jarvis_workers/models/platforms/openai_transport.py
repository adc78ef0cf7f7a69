"""The openai library as a `Wire`; no other module uses it, and only its documented transport and errors are used.

The library is imported with the first client, in the process that uses it. There is one client per process and address,
since each takes 56 ms and 0.8 MB; keys and timeouts are options of a request. Its own retries are disabled, since
retry.py decides on retries. Requests and answers are bytes, which avoids building the library's models. An API key
echoed by a server is removed here. The library also carries the requests of other APIs, which have their own headers.
"""

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import cache
from typing import Any

from jarvis_workers.models.platforms.apis import APIS
from jarvis_workers.models.platforms.errorbodies import bounded_client
from jarvis_workers.models.platforms.transport import OnLine, RequestRefused, Unreachable, seconds_to_wait
from jarvis_workers.redact import redact_server_text, without

CONNECT_SECONDS = 10.0
MESSAGE_LENGTH = 300
MOST_BYTES = 16 << 20
TOO_LARGE = f"the answer is larger than {MOST_BYTES >> 20} MB"

LoopPlace = tuple[asyncio.AbstractEventLoop, str, int]


class Clients:
    """The clients of this process, created on demand; clients of an event loop are closed with it."""

    def __init__(self) -> None:
        self._in_loop: dict[LoopPlace, tuple[Any, AsyncGenerator[Any, None]]] = {}

    async def of_loop(self, base_url: str, most: int) -> Any:
        """Return the client of the running event loop."""
        place = (asyncio.get_running_loop(), base_url, most)
        if place not in self._in_loop:
            opened = self._open(place)
            self._in_loop[place] = (await anext(opened), opened)
        return self._in_loop[place][0]

    async def _open(self, place: LoopPlace) -> AsyncGenerator[Any, None]:
        """Yield a client; the event loop closes it when it shuts down open async generators."""
        client = _make(*place[1:])
        try:
            yield client
        finally:
            del self._in_loop[place]
            await client.close()


class Sdk:
    """A server with one of the APIs of `apis`."""

    def __init__(self, clients: Clients, base_url: str, *, key: str, max_connections: int, api: str = "chat") -> None:
        self.base_url, self._key, self._most, self._clients = base_url, key, max_connections, clients
        self._url = APIS[api].url(base_url)  # the full URL, since otherwise the library parses it twice
        self._headers = APIS[api].headers(key)

    async def send_async(self, body: bytes, seconds: float, on_line: OnLine | None = None) -> bytes:
        openai, http = _libraries()
        response = _BoundedResponse(lambda line: on_line(self._cleared(line)) if on_line else None)
        try:
            async with asyncio.timeout(seconds):
                client = await self._clients.of_loop(self.base_url, self._most)
                how = self._how(body, seconds)
                kind = openai.AsyncStream[object]
                stream = await client.post(self._url, cast_to=object, stream=True, stream_cls=kind, **how)
                async with aclosing(stream.response) as answer:
                    async for piece in answer.aiter_bytes():
                        response.add(piece)
            return self._cleared(response.end())
        except http.HTTPError as error:
            raise self._cut(error) from None
        except openai.OpenAIError as error:
            raise self._request_error(error) from None
        except TimeoutError as error:
            raise Unreachable(f"no answer within {seconds:.3g} s") from error

    def _how(self, body: bytes, seconds: float) -> dict[str, Any]:
        """Return the body, headers and timeout of a request, as arguments for the library."""
        openai, http = _libraries()
        timeout = http.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        # without a value the library sends a key of its own
        headers = {"Authorization": openai.omit, **self._headers}
        return {"content": body, "options": {"headers": headers, "timeout": timeout}}

    def _cleared(self, body: bytes) -> bytes:
        """Return an answer with the API key removed."""
        if self._key.encode() not in body:
            return body
        return without(body.decode("utf-8", "surrogateescape"), self._key).encode("utf-8", "surrogateescape")

    def _cut(self, error: Exception) -> Unreachable:
        return Unreachable(redact_server_text(f"the response was truncated: {error}", self._key)[:MESSAGE_LENGTH])

    def _request_error(self, error: Any) -> RequestRefused | Unreachable:
        """Convert an error of the library; neither the message nor the cause contains the API key."""
        status = getattr(error, "status_code", None)
        if status is None:
            # the library reports every lost connection as a timeout; the cause is more precise
            says = str(error.__cause__ or "") or f"{type(error).__name__}: {error}"
            return Unreachable(redact_server_text(says, self._key)[:MESSAGE_LENGTH])
        headers = error.response.headers
        return RequestRefused(
            status, redact_server_text(str(error), self._key)[:MESSAGE_LENGTH], seconds_to_wait(headers)
        )


class _BoundedResponse:
    """A response body being received, up to MOST_BYTES; `on_line` receives its lines."""

    def __init__(self, on_line: OnLine) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._on_line, self._line = on_line, bytearray()

    def add(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > MOST_BYTES:
            raise Unreachable(TOO_LARGE)
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._on_line(bytes(self._line + line))
            self._line.clear()
        self._line += rest

    def end(self) -> bytes:
        """Pass on the last line, and return the whole body."""
        if self._line:
            self._on_line(bytes(self._line))
        return b"".join(self._pieces)


def _make(base_url: str, most: int) -> Any:
    openai, http = _libraries()
    limits = http.Limits(max_connections=most, max_keepalive_connections=most)
    client = bounded_client(openai.DefaultAioHttpClient, http)(limits=limits, follow_redirects=False, verify=_trusted())
    return openai.AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0, http_client=client)


@cache
def _libraries() -> tuple[Any, Any]:
    """Import openai and httpx2; gc.freeze exempts their objects from later garbage collection."""
    import httpx2
    import openai

    gc.freeze()
    return openai, httpx2


@cache
def _trusted() -> Any:
    """Return the TLS context, created only once, since creating it takes most of the time of creating a client."""
    return _libraries()[1].create_ssl_context()
