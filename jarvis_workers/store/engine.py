"""Open a store, and run transactions on it.

SQLite writes use BEGIN IMMEDIATE, so that a transaction that has started cannot fail because another connection holds
the lock; reads see a consistent snapshot. All driver errors are converted to StoreError with one-line messages.

A connection closed by PostgreSQL is replaced at its next checkout: its socket is then readable although no statement is
pending, which can be detected without a round trip. A client-side deadline closes a connection that stops responding
(`store/postgres`).
"""

import select as sockets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Float,
    create_engine,
    event,
    func,
    literal_column,
)
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from jarvis_workers.constraints import percent_error
from jarvis_workers.errors import StoreError, StoreFull, StoreUnavailable
from jarvis_workers.extras import advice
from jarvis_workers.private_files import make_private_directory, touch_private
from jarvis_workers.redact import redact
from jarvis_workers.store.deadline import STATEMENT_SECONDS, Deadline
from jarvis_workers.store.lockwait import TEMPORARY, LockWait, store_error
from jarvis_workers.store.schema import KEEP_IDLE, check_schema
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import present
from jarvis_workers.store.sqlite_file import check_store_file
from jarvis_workers.toolchain.filesystem import network_file_system

CONNECT_SECONDS = 2
CONNECTIONS = 2
# Time limits for detecting an unreachable server; connections to a slow server are kept.
PATIENCE = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
DRIVERS = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite+pysqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}

Clock = Callable[[], ColumnElement[float]]


class Store:
    """A results store: `read()` and `write()` yield a session, `clock()` is the database's time as SQL."""

    def __init__(
        self,
        engine: Engine,
        clock: Clock | None = None,
        deadline: Deadline | None = None,
        lock_wait: LockWait | None = None,
    ) -> None:
        self.engine = engine
        self.deadline = deadline or Deadline()
        self.lock_wait = lock_wait or LockWait()
        self.dialect = engine.dialect.name
        self.clock: Clock = clock or {"sqlite": _sqlite_now, "postgresql": _postgres_now}[self.dialect]

    @property
    def where(self) -> str:
        """The address of the store without its password."""
        return redact(self.engine.url.render_as_string(hide_password=True))

    @contextmanager
    def write(self, *, pauses: bool = False) -> Iterator[Session]:
        """Begin a write transaction; it is committed at the end of the block, rolled back on an exception.

        PostgreSQL ends transactions that are idle between statements for too long, unless they are opened with
        `pauses`.
        """
        with self._session("write") as session, session.begin():
            if pauses and self.dialect == "postgresql":
                session.connection().exec_driver_sql(KEEP_IDLE)
            yield session

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Begin a read-only transaction."""
        with self._session("read") as session, session.begin():
            yield session

    @contextmanager
    def _session(self, mode: str) -> Iterator[Session]:
        bind = self.engine.execution_options(jarvis_mode=mode)
        try:
            with Session(bind, info={"clock": self.clock}) as session:
                yield session
        except DBAPIError as error:
            raise store_error(error, self.where) from error
        except PoolTimeout as error:
            raise StoreUnavailable(f"{self.where}: all database connections of this process are in use") from error

    def now(self) -> float:
        """Return the database's time, in seconds since 1970."""
        with self.read() as session:
            return present(session)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def open_store(
    url: str,
    *,
    clock: Clock | None = None,
    migrate: bool = False,
    connections: int = CONNECTIONS,
    durable: bool = False,
    statement_seconds: float = STATEMENT_SECONDS,
    lock_wait: LockWait | None = None,
    create: bool = True,
) -> Store:
    """Open the store at `url` and check its schema; a SQLite store is migrated and, with `create`, created.

    At most `connections` connections to PostgreSQL are opened, on demand, and are kept open. With `durable`, commits
    survive a power loss on SQLite too, as they always do on PostgreSQL. StoreUnavailable is raised if PostgreSQL does
    not answer for `statement_seconds`, or if a SQLite store is locked for longer than `lock_wait` allows.

    Raises StoreError for an invalid address, a network file system, a database of another program or an incompatible
    schema, StoreUnavailable if there is no response, and StoreFull if the store is not writable.
    """
    address = database_address(url)
    if address.get_backend_name() == "sqlite":
        _prepare_file(address, create=create)
    deadline, lock_wait = Deadline(statement_seconds), lock_wait or LockWait()
    if migrate:
        deadline.lift_execution_limit()
    engine = make_engine(address, connections, deadline, lock_wait, durable=durable)
    store = Store(engine, clock, deadline, lock_wait)
    try:
        check_schema(store.engine, migrate=migrate or store.dialect == "sqlite")
    except DBAPIError as error:
        store.close()
        raise store_error(error, store.where) from error
    except StoreError:
        store.close()
        raise
    return store


def make_engine(
    address: URL, connections: int, deadline: Deadline, lock_wait: LockWait, *, durable: bool = False
) -> Engine:
    """Return an engine with the connection and transaction handling of this module."""
    if address.get_backend_name() == "sqlite":
        engine = create_engine(address, connect_args={"timeout": lock_wait.busy_seconds, "check_same_thread": False})
        event.listen(engine, "connect", partial(_prepare_sqlite, "FULL" if durable else "NORMAL", lock_wait))
        event.listen(engine, "begin", partial(_begin_sqlite, lock_wait))
        return engine
    try:
        from jarvis_workers.store.postgres_address import driver_options  # noqa: PLC0415  (the driver is an extra)
    except ImportError as error:
        raise StoreError(f"PostgreSQL needs psycopg, which is not installed; {advice('postgres')}") from error
    address, options = driver_options(address)
    patience = {name: value for name, value in PATIENCE.items() if name not in address.query}
    pool = {"pool_size": connections, "max_overflow": 0, "pool_timeout": deadline.statement_seconds}
    engine = create_engine(address, connect_args=patience | options, **pool)
    event.listen(engine, "do_connect", partial(_connect_postgres, deadline))
    event.listen(engine, "begin", _begin_postgres)
    event.listen(engine, "checkout", _replace_closed)
    event.listen(engine, "handle_error", _drop_unusable)
    return engine


def database_address(url: str) -> URL:
    """Parse the address of a store. Raises StoreError if the database is neither SQLite nor PostgreSQL."""
    try:
        address = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise StoreError(
            "JARVIS_STORE_URL: not a database address; expected sqlite:////path/file.db or postgresql://host/name"
        ) from error
    if address.drivername not in DRIVERS:
        raise StoreError(f'JARVIS_STORE_URL: "{address.drivername}" is not supported; use sqlite or postgresql')
    problem = percent_error(url) if not address.drivername.startswith("sqlite") else None
    if problem:
        raise StoreError(f"JARVIS_STORE_URL: {problem}")
    if "@" in (address.host or ""):
        raise StoreError("JARVIS_STORE_URL: percent-encode special characters of the password: %40 for @, %2F for /")
    address = address.set(drivername=DRIVERS[address.drivername])
    if address.get_backend_name() == "sqlite" and address.query:
        raise StoreError(f'JARVIS_STORE_URL: a SQLite store has no options, but "{next(iter(address.query))}" is given')
    return address


def _prepare_file(address: URL, *, create: bool) -> None:
    if not address.database or address.database == ":memory:":
        raise StoreError("JARVIS_STORE_URL: the store must be a file, as in sqlite:////path/file.db")
    if "\0" in address.database:
        raise StoreError("JARVIS_STORE_URL: a file name has no null character (%00)")
    check_store_file(Path(address.database), redact(address.render_as_string()), create=create)
    folder = Path(address.database).absolute().parent
    try:
        make_private_directory(folder)
    except OSError as error:
        raise StoreFull(
            f"{folder}: cannot create the store's directory: {error.strerror}; set JARVIS_DATA_DIR or JARVIS_STORE_URL"
        ) from error
    if Path(address.database).exists() and not Path(address.database).is_file():
        raise StoreError(f"{address.database}: not a regular file; name a file for the store in JARVIS_STORE_URL")
    # The journals get the file mode of the database. If the file cannot be created, SQLite's message is better.
    with suppress(OSError):
        touch_private(Path(address.database))
    if kind := network_file_system(folder):
        raise StoreError(
            f"{folder}: SQLite is not safe on a network file system ({kind}); "
            "set JARVIS_STORE_URL to PostgreSQL or to a local file"
        )


def _prepare_sqlite(synchronous: str, lock_wait: LockWait, connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout={round(lock_wait.busy_seconds * 1000)}").close()

    def prepare() -> None:
        for pragma in (f"synchronous={synchronous}", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()
        _use_wal(connection, lock_wait.busy_seconds)

    lock_wait.retry(prepare)


def _use_wal(connection: sqlite3.Connection, busy_seconds: float) -> None:
    """Enable write-ahead logging, which SQLite refuses while another process creates the database.

    Raises sqlite3.OperationalError if the database stays locked for `busy_seconds`.
    """
    end = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        else:
            return
        connection.execute("BEGIN IMMEDIATE").close()  # waits for the lock, up to busy_seconds
        connection.execute("COMMIT").close()


def _begin_sqlite(lock_wait: LockWait, connection: Connection) -> None:
    mode = connection.get_execution_options().get("jarvis_mode", "write")
    how = {"read": "BEGIN", "write": "BEGIN IMMEDIATE", "migrate": "BEGIN EXCLUSIVE"}[mode]
    lock_wait.retry(lambda: connection.exec_driver_sql(how))


def _connect_postgres(deadline: Deadline, _dialect: Any, _record: Any, arguments: Any, parameters: Any) -> Any:
    from jarvis_workers.store import postgres  # noqa: PLC0415  (the driver is an extra)

    connection = postgres.connect(*arguments, deadline=deadline, **parameters)
    postgres.prepare(connection, parameters)
    return connection


def _begin_postgres(connection: Connection) -> None:
    if (pooled := connection.connection.driver_connection) is not None and pooled.begin_statement:
        pooled.server_pid = connection.exec_driver_sql(pooled.begin_statement).scalar_one()


def _drop_unusable(context: ExceptionContext) -> None:
    """Discard a connection if its server is stopping or read-only."""
    if getattr(context.original_exception, "sqlstate", None) in TEMPORARY:
        context.is_disconnect = True


def _replace_closed(connection: Any, *_: Any) -> None:
    """Reject a pooled connection with unread data, since the server has closed it or sent a reason for closing it."""
    look = sockets.poll()
    look.register(connection.fileno(), sockets.POLLIN)
    if look.poll(0):
        raise DisconnectionError("closed by the server")


def _sqlite_now() -> ColumnElement[float]:
    return literal_column("((julianday('now') - 2440587.5) * 86400.0)").cast(Float(53))


def _postgres_now() -> ColumnElement[float]:
    return func.extract("epoch", func.clock_timestamp()).cast(Float(53))
