"""A database of another program, or a path without a store, is one line, and nothing is created there."""

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.store.engine import open_store
from tests.cli.commands import COPY, Jarvis

READERS = [
    *(("runs", "list"), ("runs", "list", "--json"), ("runs", "list", "--label", "a=b"), ("runs", "show", "last")),
    *(("runs", command, "last") for command in ("wait", "cancel", "resume", "retry", "report", "export", "watch")),
    *(("runs", "diff", "last", "last"), ("runs", "transcript", "1"), ("runs", "prune"), ("runs", "prune", "--cache")),
    *(("sec", "triage", "--list"), ("sec", "triage", "--undo"), ("sec", "triage", "--export", "x.yaml")),
    *(("sec", "ask", "C1234567", "Why?"), ("sec", "reproduce", "C1234567"), ("sec", "rules", "--stats")),
    *(("runs", "label", "last", "x"), ("code", "accept", "last"), ("c2rust", "roadmap", "-p", "src")),
]
WRITERS = [("sec", "fast", "src", "-q"), ("sec", "triage", "--import", "triage.yaml"), ("admin", "migrate")]
QUICK = (("runs", "list"), ("runs", "show", "last"), ("sec", "triage", "--list"), ("sec", "fast", "src", "-q"))
NO_STORE = "there is no results store; correct JARVIS_STORE_URL or JARVIS_DATA_DIR, or create it by a scan"


def mostly_slow(commands: Sequence[tuple[str, ...]]) -> list[Any]:
    return [pytest.param(one, marks=() if one in QUICK else pytest.mark.slow, id=" ".join(one)) for one in commands]


def everything_in(directory: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in directory.iterdir() if file.is_file()}


@pytest.fixture
def place(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the store that the settings name."""
    jarvis.tree(".", {"src/a.c": COPY, "triage.yaml": "version: 1\njudgements: []\n"})
    directory = jarvis.place.parent / "elsewhere"
    directory.mkdir()
    monkeypatch.setenv("JARVIS_STORE_URL", f"sqlite:///{directory}/app.db")
    return directory


@pytest.mark.parametrize("command", mostly_slow(READERS))
def test_a_path_without_a_store_is_no_store_without_runs(jarvis: Jarvis, place: Path, command: tuple[str, ...]) -> None:
    ended = jarvis(*command)

    assert (ended.code, ended.out) == (2, ""), ended
    assert ended.line.startswith(f"jarvis: sqlite:///{place}/app.db: {NO_STORE}"), ended.line
    assert everything_in(place) == {}


@pytest.mark.parametrize("is_named", [True, False])
def test_a_wrong_data_directory_is_told_too(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch, is_named: bool) -> None:
    wrong = jarvis.place.parent / "wrong"
    monkeypatch.setenv("XDG_DATA_HOME", str(wrong))
    if is_named:
        monkeypatch.setenv("JARVIS_DATA_DIR", str(wrong))
    else:
        monkeypatch.delenv("JARVIS_DATA_DIR")

    ended = jarvis("runs", "list")

    if is_named:
        assert (ended.code, NO_STORE in ended.line, wrong.exists()) == (2, True, False), ended
    else:
        assert (ended.code, ended.line) == (0, "no runs yet; start one with: jarvis sec fast")


def test_doctor_creates_no_store_and_says_that_there_is_none(jarvis: Jarvis, place: Path) -> None:
    line = next(line for line in jarvis("doctor").out.splitlines() if "results store" in line)

    assert line.endswith(f"sqlite:///{place}/app.db: no results store yet; the first run creates it")
    assert everything_in(place) == {}


@pytest.mark.parametrize("command", mostly_slow(WRITERS))
def test_a_run_or_a_migration_creates_a_store(jarvis: Jarvis, place: Path, command: tuple[str, ...]) -> None:
    assert jarvis(*command).code == 0
    assert "app.db" in everything_in(place)
    assert jarvis("runs", "list").code == 0


@pytest.mark.parametrize("command", mostly_slow([*READERS, *WRITERS, ("doctor",), ("admin", "status")]))
@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_of_another_program_is_left_as_it_is(
    jarvis: Jarvis, place: Path, journal: str, command: tuple[str, ...]
) -> None:
    with closing(sqlite3.connect(place / "app.db")) as other:
        other.execute(f"PRAGMA journal_mode={journal}")
        other.execute("CREATE TABLE users (name TEXT)")
        other.execute("CREATE TABLE alembic_version (version_num TEXT)")
        other.execute("INSERT INTO alembic_version VALUES ('4d2e')")
        other.commit()
    before = everything_in(place)

    ended = jarvis(*command)

    says = f"{place}/app.db: a database of another program (tables alembic_version, users), which was left as it is"
    assert says in ended.out + ended.err, ended
    assert ended.code == 2 and "Traceback" not in ended.err
    assert everything_in(place) == before


def test_a_database_that_another_program_has_open_is_left_as_it_is(jarvis: Jarvis, place: Path) -> None:
    with closing(sqlite3.connect(place / "app.db")) as other:
        other.execute("PRAGMA journal_mode=wal")
        other.execute("CREATE TABLE users (name TEXT)")
        other.commit()

        assert "a database of another program (tables users)" in jarvis("runs", "list").line
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("users",)]


def test_a_store_that_is_only_in_its_write_ahead_log_is_one(jarvis: Jarvis, place: Path) -> None:
    store = open_store(f"sqlite:///{place}/app.db")
    with store.read():
        assert jarvis("runs", "list").line == "no runs yet; start one with: jarvis sec fast"
    store.close()
