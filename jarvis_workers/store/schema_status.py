"""Compare the schema of a store with this program's schema, without changing the store."""

from pathlib import Path
from typing import Literal, NamedTuple

from sqlalchemy.exc import DBAPIError

from jarvis_workers.redact import redact
from jarvis_workers.store.deadline import STATEMENT_SECONDS, Deadline
from jarvis_workers.store.engine import database_address, make_engine
from jarvis_workers.store.lockwait import LockWait, store_error
from jarvis_workers.store.revisions import REVISIONS
from jarvis_workers.store.schema import stored_revision
from jarvis_workers.store.sqlite_file import check_store_file

SchemaState = Literal["current", "outdated", "missing", "newer"]


class SchemaStatus(NamedTuple):
    """The revision of a store, None without tables, and this program's revision; `where` contains no password."""

    where: str
    stored: str | None
    program: str

    @property
    def state(self) -> SchemaState:
        """Whether the schema is current, has to be migrated, is missing, or belongs to a newer program."""
        if self.stored is None:
            return "missing"
        if self.stored not in REVISIONS:
            return "newer"
        return "current" if self.stored == self.program else "outdated"

    @property
    def pending(self) -> tuple[str, ...]:
        """The revisions that a migration would apply, oldest first."""
        if self.state == "newer":
            return ()
        return REVISIONS if self.stored is None else REVISIONS[REVISIONS.index(self.stored) + 1 :]


def schema_status(url: str, statement_seconds: float = STATEMENT_SECONDS) -> SchemaStatus:
    """Return the status of the store at `url`; a SQLite file that does not exist is not created. Raises StoreError."""
    address = database_address(url)
    where = redact(address.render_as_string(hide_password=True))
    program = REVISIONS[-1]
    if address.get_backend_name() == "sqlite" and not Path(address.database or "").is_file():
        return SchemaStatus(where, None, program)
    if address.get_backend_name() == "sqlite":
        check_store_file(Path(address.database or ""), where, create=True)
    engine = make_engine(address, 1, Deadline(statement_seconds), LockWait())
    try:
        with engine.execution_options(jarvis_mode="read").connect() as connection:
            return SchemaStatus(where, stored_revision(connection), program)
    except DBAPIError as error:
        raise store_error(error, where) from error
    finally:
        engine.dispose()
