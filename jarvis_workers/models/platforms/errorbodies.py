"""Read error responses of a model server up to a bound, since a server may send an endless body.

The openai library reads the whole body of an error response before it raises.
"""

import time
from contextlib import aclosing, suppress
from typing import Any

# Error messages show only a few hundred characters.
ERROR_BYTES_MAX = 1 << 20
# These headers describe the body as transferred; the body passed on is decoded.
OF_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")


def bounded_client(kind: Any, http: Any) -> Any:
    """Return a subclass of `kind`, an asyncio client class of the library `http`, that bounds error bodies."""

    class BoundedClient(kind):  # type: ignore[misc]
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

    return BoundedClient


class _Start:
    """The start of a body: at most ERROR_BYTES_MAX, received within the time limit of one read."""

    def __init__(self, request: Any) -> None:
        self._deadline = time.monotonic() + (request.extensions["timeout"]["read"] or 0.0)
        self._bytes = bytearray()

    def add(self, piece: bytes) -> bool:
        """Append a piece; return whether to stop reading."""
        self._bytes += piece[: ERROR_BYTES_MAX - len(self._bytes)]
        return len(self._bytes) >= ERROR_BYTES_MAX or time.monotonic() > self._deadline

    def of(self, response: Any, http: Any) -> Any:
        """Return a response with the same status and headers and this body."""
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in OF_THE_BODY]
        return http.Response(
            response.status_code, headers=headers, content=bytes(self._bytes), request=response.request
        )
