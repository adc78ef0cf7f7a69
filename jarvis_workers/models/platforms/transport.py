"""The interface to a server, and the two kinds of failure.

RequestRefused is an error response, with its status and Retry-After; Unreachable means that no complete response
arrived. `retry.py` decides which of them are retried.
"""

from collections.abc import Callable, Mapping
from typing import Protocol


class RequestRefused(Exception):
    """The server answered with an error; `again` is its Retry-After in seconds."""

    def __init__(self, status: int, says: str, again: float | None = None) -> None:
        super().__init__(f"the server responded with {status}: {says}")
        self.status, self.again = status, again


class Unreachable(Exception):
    """No complete response: connection failed, connection lost, or timeout."""


# Receives a line of a response, without its end.
OnLine = Callable[[bytes], None]


class Wire(Protocol):
    """A client of one server."""

    async def send_async(self, body: bytes, seconds: float, on_line: OnLine | None = None) -> bytes:
        """Send a request and return the body of the response; raises RequestRefused or Unreachable.

        `on_line` receives each line as soon as it is there, and may raise BrokenAnswer.
        """


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Parse Retry-After in seconds or milliseconds; dates are ignored, since clocks may differ."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return seconds if 0 <= seconds < float("inf") else None
    return None
