"""The way to a server: what is sent, what comes back, and the two ways in which that fails.

What a server says no to is Refused, with its status and when to come again; what never became an answer is
Unreachable.  `retry.py` decides which of them deserve another try.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol


class RequestRefused(Exception):
    """The server answered with an error; `again` is its Retry-After in seconds."""

    def __init__(self, status: int, says: str, again: float | None = None) -> None:
        super().__init__(f"the server said {status}: {says}")
        self.status, self.again = status, again


class Unreachable(Exception):
    """No whole answer came: no connection, one that was cut, or none in time."""


class Wire(Protocol):
    """A client of one server. Each form raises RequestRefused or Unreachable."""

    def send(self, body: bytes, seconds: float) -> bytes:
        """Return the answer's body."""
        ...

    async def send_async(self, body: bytes, seconds: float) -> bytes:
        """Return the answer's body."""
        ...

    def stream(self, body: bytes, seconds: float) -> Iterator[Mapping[str, Any]]:
        """Yield the pieces of the answer; the body asks for them."""
        ...


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Read Retry-After, in its two spellings; a date is not worth the trouble of other people's clocks."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return seconds if 0 <= seconds < float("inf") else None
    return None
