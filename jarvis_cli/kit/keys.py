"""Read single keys and lines from a terminal without losing input typed ahead."""

import os
import select
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LINE_BYTES = 4_096
ESCAPE = b"\x1b"


def read_key(terminal: int, ask: Callable[[], None]) -> str:
    """Prompt with `ask`, then wait for a key.

    Return "" at the end of the input; a key that sends several bytes, such as an arrow, is returned whole.
    """
    with _key_by_key(terminal):
        ask()
        key = _read(terminal, 1)
        if key == ESCAPE and select.select([terminal], [], [], 0)[0]:
            return "escape" if _read(terminal, 64) else ""
    return key.decode("utf-8", "replace")


def read_line(terminal: int) -> str:
    """Read a line in the terminal's line-editing mode; "" at the end of the input."""
    return _read(terminal, LINE_BYTES).decode("utf-8", "replace").strip()


def _read(terminal: int, most: int) -> bytes:
    """Read from the terminal; a hang-up counts as the end of the input."""
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
