"""Bounded capture of a command's output: its beginning and its end."""

import os
from collections import deque
from contextlib import suppress

READ_BYTES = 1 << 16


class Output:
    """The captured output: its first and last `half` bytes."""

    def __init__(self, half: int) -> None:
        self._half = half
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = self._dropped = 0

    @property
    def cut(self) -> int:
        """The number of bytes dropped in the middle."""
        return self._dropped + max(0, self._tail_bytes - self._half)

    def take(self, pipe: int) -> bool:
        """Read the available bytes of a pipe; return False at its end."""
        try:
            chunk = os.read(pipe, READ_BYTES)
        except BlockingIOError:
            return True
        self.add(chunk)
        return bool(chunk)

    def drain(self, pipe: int) -> None:
        """Read the rest of a pipe whose writers have exited."""
        with suppress(BlockingIOError):
            while chunk := os.read(pipe, READ_BYTES):
                self.add(chunk)

    def add(self, chunk: bytes) -> None:
        room = max(0, self._half - len(self._head))
        self._head += chunk[:room]
        if rest := chunk[room:]:
            self._tail.append(rest)
            self._tail_bytes += len(rest)
        while self._tail and self._tail_bytes - len(self._tail[0]) >= self._half:
            dropped = len(self._tail.popleft())
            self._tail_bytes -= dropped
            self._dropped += dropped

    def text(self) -> bytes:
        """Return the captured bytes, with a note in the middle on the number of bytes dropped."""
        tail = b"".join(self._tail)
        notice = f"\n[... {self.cut} bytes cut ...]\n".encode() if self.cut else b""
        return bytes(self._head) + notice + tail[max(0, len(tail) - self._half) :]
