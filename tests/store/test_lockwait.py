"""Waiting for the write lock of a SQLite store: at the start of a command with patience, and one line."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jarvis_workers.errors import StoreUnavailable
from jarvis_workers.store.engine import Store, open_store
from jarvis_workers.store.lockwait import LockWait
from tests.store.arrange import enrol

SHORT, LONG = 0.02, 60.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jarvis.db"


@pytest.fixture
def other(path: Path) -> Iterator[sqlite3.Connection]:
    """Another process that writes to the store."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield connection


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def patient(other: sqlite3.Connection, told: list[str]) -> LockWait:
    """Patience that others reward: they have written when they are waited for."""

    def tell(says: str) -> None:
        told.append(says)
        other.execute("COMMIT")

    return LockWait(SHORT, LONG, tell)


def test_a_new_store_that_others_write_to_is_waited_for(path: Path, patient: LockWait, told: list[str]) -> None:
    with closing(open_store(f"sqlite:///{path}", lock_wait=patient)) as store:
        enrol(store, "w")

    assert told == ["another process has been writing to the store for 0 s; waiting up to 60 s"]


def test_a_first_write_waits_for_others(
    path: Path, sqlite_url: str, open_stores: Callable[..., Store], told: list[str]
) -> None:
    open_stores(sqlite_url)
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)) as other:

        def tell(says: str) -> None:
            told.append(says)
            other.execute("COMMIT")

        with closing(open_store(sqlite_url, lock_wait=LockWait(SHORT, LONG, tell))) as store:
            for _ in range(2):
                other.execute("BEGIN EXCLUSIVE")
                enrol(store, "w")

    assert len(told) == 2


@pytest.mark.usefixtures("other")
def test_patience_has_an_end(path: Path, told: list[str]) -> None:
    with pytest.raises(StoreUnavailable, match="has been locked"):
        open_store(f"sqlite:///{path}", lock_wait=LockWait(SHORT, 5 * SHORT, told.append))

    assert len(told) <= 1


@pytest.mark.usefixtures("other")
def test_after_the_start_there_is_no_patience(path: Path, told: list[str]) -> None:
    wait = LockWait(SHORT, LONG, told.append)
    wait.end_startup()
    with pytest.raises(StoreUnavailable, match="has been locked"):
        open_store(f"sqlite:///{path}", lock_wait=wait)

    assert told == []
