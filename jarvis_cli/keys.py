"""Read single keys and lines from a terminal; what is typed ahead is not lost between the two."""

import os
import select
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["read_key", "read_line"]

LINE_BYTES = 4_096
ESCAPE = b"\x1b"


def read_key(terminal: int, ask: Callable[[], None]) -> str:
    """Wait for a key, as soon as `ask` has said that one is wanted.

    "" is the end of the input; what sends several bytes, such as an arrow, is one key.
    """
    with _key_by_key(terminal):
        ask()
        key = _read(terminal, 1)
        if key == ESCAPE and select.select([terminal], [], [], 0)[0]:
            return "escape" if _read(terminal, 64) else ""
    return key.decode("utf-8", "replace")


def read_line(terminal: int) -> str:
    """Wait for a line as the terminal edits it; empty at the end of the input."""
    return _read(terminal, LINE_BYTES).decode("utf-8", "replace").strip()


def _read(terminal: int, most: int) -> bytes:
    """A terminal that is gone has ended."""
    try:
        return os.read(terminal, most)
    except OSError:
        return b""


@contextmanager
def _key_by_key(terminal: int) -> Iterator[None]:
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
