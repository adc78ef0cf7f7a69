"""Wait for the write lock of a SQLite store, which one process has at a time."""

import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy.exc import OperationalError

BUSY_SECONDS = 30.0
PRIMARY_CODE = 0xFF

T = TypeVar("T")


@dataclass(slots=True)
class LockWait:
    """How long to wait: `busy_seconds` at a time in SQLite itself, and `patience_seconds` after that.

    The second kind of waiting is told once a time, in one line.  It is for the start of a command: in the middle,
    whoever has work to keep waits by himself.
    """

    busy_seconds: float = BUSY_SECONDS
    patience_seconds: float = 0.0
    tell: Callable[[str], None] = lambda _: None

    def retry(self, begin: Callable[[], T]) -> T:
        """Return what `begin` returns; raise what it raised last when the lock has not been free in time."""
        give_up, told = time.monotonic() + self.patience_seconds, False
        while True:
            try:
                return begin()
            except (OperationalError, sqlite3.OperationalError) as error:
                if not is_locked(error) or time.monotonic() >= give_up:
                    raise
            if not told:
                told = True
                self.tell(
                    f"another process has been writing to the store for {self.busy_seconds:.0f} s; "
                    f"waiting up to {self.patience_seconds:.0f} s"
                )

    def end_startup(self) -> None:
        """Have no more patience from now on."""
        self.patience_seconds = 0.0


def is_locked(error: OperationalError | sqlite3.OperationalError) -> bool:
    """Say whether SQLite refused something as another connection has the lock."""
    cause = error.orig if isinstance(error, OperationalError) else error
    return isinstance(cause, sqlite3.OperationalError) and cause.sqlite_errorcode & PRIMARY_CODE == sqlite3.SQLITE_BUSY
