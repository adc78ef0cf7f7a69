"""Read a SQLite store with a current schema through Python's sqlite3 module.

Importing SQLAlchemy and sqlmodel takes longer than the shortest commands take in total. Any other store is left to
`store.engine`, which creates and migrates stores and reports errors.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from jarvis_workers.store.revisions import REVISIONS, VERSION_TABLE
from jarvis_workers.store.sqlite_file import foreign_tables

SCHEME = "sqlite:///"
BUSY_SECONDS = 1


@contextmanager
def open_direct(url: str, *, write: bool = False) -> Iterator[sqlite3.Connection | None]:
    """Yield an autocommit connection to the store at `url`, or None if it is not a current SQLite store or is busy.

    The connection is read-only unless `write`.
    """
    connection = _connect(url, "rw" if write else "ro")
    if connection is None:
        yield None
        return
    with closing(connection):
        yield connection if _is_current(connection) else None


def _connect(url: str, mode: str) -> sqlite3.Connection | None:
    path = Path(url.removeprefix(SCHEME))
    if not url.startswith(SCHEME) or set(url) & set("?%") or not path.is_file() or foreign_tables(path):
        return None
    try:
        address = f"file:{quote(str(path.absolute()))}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        connection.execute("PRAGMA foreign_keys=ON").close()
    except sqlite3.Error:
        return None
    connection.row_factory = sqlite3.Row
    return connection


def _is_current(connection: sqlite3.Connection) -> bool:
    try:
        row = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
    except sqlite3.Error:
        return False
    return row is not None and row[0] == REVISIONS[-1]
