"""Open a store, and run transactions on it.

SQLite writes under BEGIN IMMEDIATE, so a transaction that starts also ends; reads see one
moment.  Whatever the driver raises leaves here as one of our errors, in one line.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Float, create_engine, event, func, literal_column, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlmodel import Session

from jarvis_workers.errors import StoreError, StoreFull, StoreUnavailable
from jarvis_workers.redact import redact
from jarvis_workers.store.schema import check_schema
from jarvis_workers.toolchain.filesystem import network_file_system

CONNECT_SECONDS = 3
BUSY_SECONDS = 30
FULL_MARKS = ("database or disk is full", "disk i/o error", "no space left", "could not extend file")
LOCKED_MARK = "database is locked"
DRIVERS = ("sqlite", "sqlite+pysqlite", "postgresql", "postgresql+psycopg")
CLOSED_MARKS = ("readonly database", "unable to open database file")

Clock = Callable[[], ColumnElement[float]]


class Store:
    """A results store: `read()` and `write()` give a session, `clock()` is the database's time in SQL."""

    def __init__(self, engine: Engine, clock: Clock | None = None) -> None:
        self.engine = engine
        self.dialect = engine.dialect.name
        self.clock: Clock = clock or {"sqlite": _sqlite_now, "postgresql": _postgres_now}[self.dialect]

    @property
    def where(self) -> str:
        """The store's address, without its password."""
        return redact(self.engine.url.render_as_string(hide_password=True))

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Open a transaction that writes; it is committed at the end, or not at all."""
        with self._session("write") as session, session.begin():
            yield session

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a transaction that only reads."""
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

    def now(self) -> float:
        """Return the database's time."""
        with self.read() as session:
            return float(session.execute(select(self.clock())).scalar_one())

    def close(self) -> None:
        """Give back the connections."""
        self.engine.dispose()


def open_store(url: str, *, clock: Clock | None = None, migrate: bool = False) -> Store:
    """Return the store at `url`, its schema checked; SQLite is made and migrated on the way.

    Raises StoreError for a wrong address, a network file system or a schema that does not fit,
    StoreUnavailable when nothing answers, StoreFull when it cannot be written.
    """
    address = _address(url)
    if address.get_backend_name() == "sqlite":
        _prepare_file(address)
    engine = make_engine(address)
    try:
        check_schema(engine, migrate=migrate or engine.dialect.name == "sqlite")
    except DBAPIError as error:
        raise store_error(error, redact(address.render_as_string(hide_password=True))) from error
    return Store(engine, clock)


def make_engine(address: URL) -> Engine:
    """Return an engine with our way of connecting and beginning."""
    if address.get_backend_name() == "sqlite":
        engine = create_engine(address, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        return create_engine(address, connect_args={"connect_timeout": CONNECT_SECONDS}, pool_size=4, max_overflow=4)
    except ImportError as error:
        raise StoreError("PostgreSQL needs its driver: pip install 'jarvis-workers[postgres]'") from error


def store_error(error: DBAPIError, where: str) -> StoreError:
    """Say in our words, and in one line, what the driver said."""
    said = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
    if any(mark in said.lower() for mark in FULL_MARKS):
        return StoreFull(f"{where}: cannot write: {said}; free some space or set JARVIS_STORE_URL to another place")
    if LOCKED_MARK in said.lower():
        return StoreUnavailable(
            f"{where}: another process, perhaps a stopped one, has been writing for {BUSY_SECONDS} s"
        )
    if any(mark in said.lower() for mark in CLOSED_MARKS):
        return StoreFull(f"{where}: {said}; make it writable, or set JARVIS_DATA_DIR or JARVIS_STORE_URL")
    if isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated:
        return StoreUnavailable(f"{where}: {said}; is the database there? see JARVIS_STORE_URL")
    return StoreError(f"{where}: {said}")


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise StoreError(
            "JARVIS_STORE_URL: not a database address; sqlite:////path/file.db or postgresql://host/name"
        ) from error
    if address.drivername not in DRIVERS:
        raise StoreError(f'JARVIS_STORE_URL: "{address.drivername}" is not supported; use sqlite or postgresql')
    return address.set(drivername="postgresql+psycopg") if address.drivername == "postgresql" else address


def _prepare_file(address: URL) -> None:
    if not address.database or address.database == ":memory:":
        raise StoreError("JARVIS_STORE_URL: the store must be a file, as in sqlite:////path/file.db")
    folder = Path(address.database).absolute().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreFull(
            f"{folder}: cannot make the store's directory: {error.strerror}; set JARVIS_DATA_DIR or JARVIS_STORE_URL"
        ) from error
    if kind := network_file_system(folder):
        raise StoreError(
            f"{folder}: SQLite is not safe on a network file system ({kind}); "
            "set JARVIS_STORE_URL to PostgreSQL or to a local file"
        )


def _prepare_sqlite(connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", f"busy_timeout={BUSY_SECONDS * 1000}"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    mode = connection.get_execution_options().get("jarvis_mode", "write")
    how = {"read": "BEGIN", "write": "BEGIN IMMEDIATE", "migrate": "BEGIN EXCLUSIVE"}[mode]
    connection.exec_driver_sql(how)


def _sqlite_now() -> ColumnElement[float]:
    return literal_column("((julianday('now') - 2440587.5) * 86400.0)").cast(Float(53))


def _postgres_now() -> ColumnElement[float]:
    return func.extract("epoch", func.clock_timestamp()).cast(Float(53))
