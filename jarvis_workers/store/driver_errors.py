"""Errors of the database drivers as StoreErrors: what passes by itself, what lasts, what is a fault of the data."""

import resource

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, InterfaceError, OperationalError

from jarvis_workers.errors import StoreError, StoreFull, StoreRefused, StoreRejected, StoreUnavailable, clause
from jarvis_workers.store.lockwait import BUSY_SECONDS
from jarvis_workers.store.refusals import NO_PERMISSION, SHARED_ADVICE, SHARED_STATEMENTS, answered, refusal

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
