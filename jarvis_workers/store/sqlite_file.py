"""The file of a SQLite store, checked before it is opened: opening a database changes it.

A file that holds the tables of another program is refused, and so is a missing one where a store should be: both would
read as a store without runs.
"""

import os
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from jarvis_workers.errors import StoreError
from jarvis_workers.paths import listing, plain
from jarvis_workers.store.revisions import VERSION_TABLE

# Tables of every store, since its first revision.
OWN_TABLES = frozenset({VERSION_TABLE, "run", "lease"})
NAMES_MAX = 3
ANOTHER = "name another file in JARVIS_STORE_URL"
CREATE = "correct JARVIS_STORE_URL or JARVIS_DATA_DIR, or create it by a scan, or with: jarvis admin migrate"


def check_store_file(file: Path, where: str, *, create: bool) -> None:
    """Raise StoreError for a database of another program and, unless `create`, for a file without a store.

    `where` is the address of the store.
    """
    facts = _facts(file)
    if facts is not None and not stat.S_ISREG(facts.st_mode):
        return
    if facts is None or not facts.st_size:
        if not create:
            raise StoreError(f"{where}: there is no results store; {CREATE}")
        return
    if tables := foreign_tables(file):
        names = plain(listing(sorted(tables), NAMES_MAX))
        raise StoreError(f"{where}: a database of another program (tables {names}), which was left as it is; {ANOTHER}")


def foreign_tables(file: Path) -> frozenset[str]:
    """Return the tables of a database of another program; none of a store, or of a new database."""
    tables = _tables(file)
    return frozenset() if tables >= OWN_TABLES else tables


def _facts(file: Path) -> os.stat_result | None:
    with suppress(OSError):
        return file.stat()
    return None


def _tables(file: Path) -> frozenset[str]:
    """Return the tables of a database; none if it cannot be read here, which opening it then tells in one line.

    A reader of a database in WAL mode creates files beside it, unless it is read as one that does not change.
    """
    mode = "ro" if Path(f"{file}-wal").exists() else "ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file.absolute()))}?mode={mode}", uri=True, timeout=0)) as reader:
            return frozenset(name for (name,) in reader.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
    except sqlite3.Error:
        return frozenset()
