"""Wait for the single write lock of a SQLite store."""

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
    """Limits of the wait: `busy_seconds` per attempt in SQLite itself, and `patience_seconds` for repeated attempts.

    The repeated attempts are announced once, with one line. They are only for the start of a command: afterwards, code
    that has results to save does its own retries.
    """

    busy_seconds: float = BUSY_SECONDS
    patience_seconds: float = 0.0
    tell: Callable[[str], None] = lambda _: None

    def retry(self, begin: Callable[[], T]) -> T:
        """Return the result of `begin`; raise its last error if the lock has not become free in time."""
        give_up, is_reported = time.monotonic() + self.patience_seconds, False
        while True:
            try:
                return begin()
            except (OperationalError, sqlite3.OperationalError) as error:
                if not is_locked(error) or time.monotonic() >= give_up:
                    raise
            if not is_reported:
                is_reported = True
                self.tell(
                    f"another process has been writing to the store for {self.busy_seconds:.0f} s; "
                    f"waiting up to {self.patience_seconds:.0f} s"
                )

    def end_startup(self) -> None:
        """Disable repeated attempts."""
        self.patience_seconds = 0.0


def is_locked(error: OperationalError | sqlite3.OperationalError) -> bool:
    """Return whether SQLite failed because another connection holds the lock."""
    cause = error.orig if isinstance(error, OperationalError) else error
    return isinstance(cause, sqlite3.OperationalError) and cause.sqlite_errorcode & PRIMARY_CODE == sqlite3.SQLITE_BUSY
