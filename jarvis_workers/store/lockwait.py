"""Wait for the single write lock of a SQLite store."""

import resource
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, InterfaceError, OperationalError

from jarvis_workers.errors import StoreError, StoreFull, StoreRefused, StoreRejected, StoreUnavailable, clause

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


# Tell a refusal of PostgreSQL, which lasts until somebody changes it, from an outage, which passes by itself.

# SQLSTATE and what to do.
NO_PERMISSION = "42501"
ADVICE = {
    NO_PERMISSION: "this user lacks the permission, see: jarvis admin roles --help, and",
    "28000": "check user, password and permissions; see",
    "28P01": "check user, password and permissions; see",
    "3D000": "create the database, or correct its name in",
}
# A server connection that a pooler gives to several clients has the prepared statements of all of them.
SHARED_STATEMENTS = ("26000", "42P05")
SHARED_ADVICE = "a connection pooler shares its connections; set prepare_threshold=none in JARVIS_STORE_URL"
# Errors while connecting have no SQLSTATE: messages of PostgreSQL, pgbouncer and libpq, in lower case.
MARKS = (
    (("unsupported startup parameter",), "a connection pooler refuses this option; remove it from"),
    (("authentication failed", "no password supplied", "permission denied", "no pg_hba.conf entry"), ADVICE["28000"]),
    (("is not permitted to log in", "no such user", "not allowed"), ADVICE["28000"]),
    (("no such database",), ADVICE["3D000"]),
    (("connection is bad: invalid", "unrecognized configuration parameter"), "correct the option in"),
)
MISSING = (('role "', ADVICE["28000"]), ('database "', ADVICE["3D000"]))
ANSWERED = "fatal: "


def refusal(text: str, sqlstate: str | None) -> str | None:
    """Return what to do about a lasting refusal; None for an outage. `text` is the driver's message, of any length."""
    if sqlstate is not None:
        return ADVICE.get(sqlstate)
    found = (
        advice for line in text.lower().splitlines() for marks, advice in MARKS if any(mark in line for mark in marks)
    )
    missing = (
        advice
        for line in text.lower().splitlines()
        for subject, advice in MISSING
        if subject in line and line.endswith("does not exist")
    )
    return next(found, None) or next(missing, None)


def answered(text: str) -> bool:
    """Return whether a server has sent this message: it is running, although it takes no connections for now."""
    return ANSWERED in text.lower()


# Errors of the database drivers as StoreErrors: what passes by itself, what lasts, what is a fault of the data.

READ_ONLY = "25006"
# The server is stopping or starting, or has ended an idle transaction: another connection may work.
TEMPORARY = (READ_ONLY, "25P03", "57P01", "57P02", "57P03", "57P05")
# Classes of SQLSTATE (PostgreSQL's documentation, appendix A) that pass without a change of the statement: connection,
# transaction state, rollback, resources, locks, operator, system and internal errors.
TEMPORARY_CLASSES = ("08", "25", "40", "53", "55", "57", "58", "XX")
# Those that are the fault of the data: data exceptions, constraints, and limits of the server such as a row's size.
REJECTED_CLASSES = ("22", "23", "54")
DISK_FULL = "53100"
# Messages of OpenSSL and libpq.
UNTRUSTED_MARKS = ("certificate verify failed", "server certificate for")
IO_ERROR = "disk i/o error"
FULL_MARKS = ("database or disk is full", IO_ERROR, "no space left", "could not extend file")
LOCKED_MARK = "database is locked"
CLOSED_MARKS = ("readonly database", "unable to open database file")


def store_error(error: DBAPIError, where: str) -> StoreError:
    """Convert a driver error to a StoreError with a one-line message."""
    text = clause(str(error.orig)) or type(error.orig).__name__
    sqlstate = getattr(error.orig, "sqlstate", None) or ""
    if sqlstate == DISK_FULL or any(mark in text.lower() for mark in FULL_MARKS):
        return StoreFull(f"{where}: cannot write: {text}; {_room(text)} or set JARVIS_STORE_URL to another location")
    if LOCKED_MARK in text.lower():
        return StoreUnavailable(
            f"{where}: the database has been locked by another process, perhaps a stopped one, for {BUSY_SECONDS:.0f} s"
        )
    if any(mark in text.lower() for mark in CLOSED_MARKS):
        return StoreFull(f"{where}: {text}; make it writable, or set JARVIS_DATA_DIR or JARVIS_STORE_URL")
    return _server_error(error, text, sqlstate, where)


def _room(text: str) -> str:
    """Return what to do about a file that does not grow. SQLite calls the limit of file sizes an I/O error."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if IO_ERROR in text.lower() and limit != resource.RLIM_INFINITY:
        return f"raise the limit of file sizes (ulimit -f, now {limit:,} bytes), free some space"
    return "free some space"


def _server_error(error: DBAPIError, text: str, sqlstate: str, where: str) -> StoreError:
    if sqlstate in SHARED_STATEMENTS:
        return StoreError(f"{where}: {text}; {SHARED_ADVICE}")
    kind = _kind_of(error, sqlstate)
    if (kind is StoreUnavailable or sqlstate == NO_PERMISSION) and (
        remedy := refusal(str(error.orig), sqlstate or None)
    ):
        return StoreRefused(f"{where}: {text}; {remedy} JARVIS_STORE_URL")
    advice = f"; {_advice(error, sqlstate)} see JARVIS_STORE_URL" if kind is StoreUnavailable else ""
    return kind(f"{where}: {text}{advice}")


def _kind_of(error: DBAPIError, sqlstate: str) -> type[StoreError]:
    if sqlstate[:2] in REJECTED_CLASSES or isinstance(error, IntegrityError | DataError):
        return StoreRejected
    is_unclear = isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated
    return StoreUnavailable if is_unclear or sqlstate[:2] in TEMPORARY_CLASSES else StoreError


def _advice(error: DBAPIError, sqlstate: str) -> str:
    if sqlstate == READ_ONLY:
        return "the database is read-only, possibly a standby;"
    if any(mark in str(error.orig) for mark in UNTRUSTED_MARKS):
        return "check sslrootcert and the host name;"
    return "the database takes no connections for now;" if answered(str(error.orig)) else "is the database running?"
