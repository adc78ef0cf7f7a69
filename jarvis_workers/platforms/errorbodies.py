"""Read error responses of a model server up to a bound, as a server may send a body without an end.

The openai library reads the whole body of a response that is not a success before it raises.
"""

import time
from contextlib import aclosing, closing, suppress
from typing import Any

# Of what an error says, a few hundred characters are shown.
ERROR_BYTES_MAX = 1 << 20
# They describe the body as it was sent; the one that is passed on is decoded.
OF_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")


def bounded_client(kind: Any, http: Any) -> Any:
    """Return a kind of blocking client like `kind`, of the library `http`, that reads no error to its end."""

    class BoundedClient(kind):  # type: ignore[misc]
        def send(self, request: Any, **how: Any) -> Any:
            response = super().send(request, **how)
            if response.is_success or not how.get("stream"):
                return response
            start = _Start(request)
            with closing(response), suppress(http.HTTPError):
                for piece in response.iter_bytes():
                    if start.add(piece):
                        break
            return start.of(response, http)

    return BoundedClient


def bounded_async_client(kind: Any, http: Any) -> Any:
    """Return the same for a client of an event loop."""

    class BoundedAsyncClient(kind):  # type: ignore[misc]
        async def send(self, request: Any, **how: Any) -> Any:
            response = await super().send(request, **how)
            if response.is_success or not how.get("stream"):
                return response
            start = _Start(request)
            async with aclosing(response), aclosing(response.aiter_bytes()) as pieces:
                with suppress(http.HTTPError):
                    async for piece in pieces:
                        if start.add(piece):
                            break
            return start.of(response, http)

    return BoundedAsyncClient


class _Start:
    """The start of a body: ERROR_BYTES_MAX at most, and what comes within the time of one read."""

    def __init__(self, request: Any) -> None:
        self._deadline = time.monotonic() + (request.extensions["timeout"]["read"] or 0.0)
        self._bytes = bytearray()

    def add(self, piece: bytes) -> bool:
        """Take a piece; return whether that is enough."""
        self._bytes += piece[: ERROR_BYTES_MAX - len(self._bytes)]
        return len(self._bytes) >= ERROR_BYTES_MAX or time.monotonic() > self._deadline

    def of(self, response: Any, http: Any) -> Any:
        """Return a response of the same status and headers with this body."""
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in OF_THE_BODY]
        return http.Response(
            response.status_code, headers=headers, content=bytes(self._bytes), request=response.request
        )
