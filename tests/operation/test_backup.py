"""Backup, loss and restore of a store and its blobs: the same reports to the byte, and runs that go on."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from jarvis_workers.sec.report import FORMATS
from tests.cli.commands import COPY, SYSTEM, UNSAFE, Jarvis
from tests.support.servers import Postgres

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES: dict[str, str | bytes] = {"a.c": COPY, "lib/b.c": SYSTEM, "src/lib.rs": UNSAFE}


class Runs(NamedTuple):
    """A finished run, and one that is paused before its first job."""

    finished: str
    paused: str


def make_runs(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.setenv("JARVIS_SCAN__SMALL_FILES", "0")
    tree = jarvis.tree("tree", FILES)
    assert jarvis("sec", "fast", tree, "-q", "-o", "first.json").code == 0
    finished = jarvis("runs", "list", "--json").out.split('"id": "')[1][:8]
    marked = jarvis("sec", "triage", finished, "--file", "*.rs", "--mark", "false", "--reason", "checked", "-y")
    assert marked.code == 0, marked.err
    paused = jarvis.submit(jarvis.tree("other", FILES), paused=True)
    shutil.rmtree(jarvis.place / "tree")
    shutil.rmtree(jarvis.place / "other")
    return Runs(finished, paused)


def reports(jarvis: Jarvis, run_id: str) -> dict[str, bytes]:
    """Return the report of a run in every format."""
    found = {}
    for form in FORMATS:
        ended = jarvis("runs", "report", run_id, "--format", form, "-o", f"report.{form}")
        assert ended.code == 0, ended.err
        found[form] = (jarvis.place / f"report.{form}").read_bytes()
    return found


def records(jarvis: Jarvis) -> str:
    """Return the list of runs, and the triage verdicts."""
    return jarvis("runs", "list", "--json").out + jarvis("sec", "triage", "--export", "-").out


def lose_and_restore(jarvis: Jarvis, runs: Runs, lose: Callable[[], None], restore: Callable[[], None]) -> None:
    """Assert that after a restore everything is as before the loss, and that the paused run completes."""
    before = reports(jarvis, runs.finished)
    assert b"strcpy" in before["json"]
    listed = records(jarvis)
    assert "checked" in listed
    lose()
    assert jarvis("runs", "report", runs.finished).code == 2
    restore()
    assert reports(jarvis, runs.finished) == before
    assert records(jarvis) == listed
    resumed = jarvis("runs", "resume", runs.paused, "-q", "-o", "resumed.json")
    assert resumed.code == 0, resumed.err
    assert b"strcpy" in (jarvis.place / "resumed.json").read_bytes()


def test_a_postgresql_store_comes_back_from_pg_dump(
    jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch, postgres_server: Postgres, tmp_path: Path
) -> None:
    server, dump, blobs = postgres_server, postgres_server.home / "jarvis.dump", tmp_path / "blobs"
    where = ("-h", str(server.home), "-U", "jarvis")
    server.sql("CREATE DATABASE backed_up TEMPLATE template")
    monkeypatch.setenv("JARVIS_STORE_URL", server.url("backed_up"))
    monkeypatch.setenv("JARVIS_BLOBS_URL", str(blobs))
    runs = make_runs(jarvis, monkeypatch)

    server.run("pg_dump", *where, "-Fc", "-f", str(dump), "backed_up")
    shutil.copytree(blobs, tmp_path / "blobs.backup")

    def lose() -> None:
        server.sql("DROP DATABASE backed_up WITH (FORCE)")
        server.sql("CREATE DATABASE backed_up")
        shutil.rmtree(blobs)

    def restore() -> None:
        server.run("pg_restore", *where, "-d", "backed_up", "--exit-on-error", str(dump))
        shutil.copytree(tmp_path / "blobs.backup", blobs)

    lose_and_restore(jarvis, runs, lose, restore)


def test_a_sqlite_store_comes_back_from_vacuum_into(
    jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data, backup = jarvis.settings.data_dir, tmp_path / "backup"
    runs = make_runs(jarvis, monkeypatch)

    backup.mkdir()
    with closing(sqlite3.connect(data / "jarvis.db")) as database:
        database.execute("VACUUM INTO ?", (str(backup / "jarvis.db"),))
    shutil.copytree(data / "blobs", backup / "blobs")

    def lose() -> None:
        shutil.rmtree(data)

    def restore() -> None:
        shutil.copytree(backup, data)

    lose_and_restore(jarvis, runs, lose, restore)
