"""`jarvis admin status` compares schemas and changes nothing."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from jarvis_workers.store.revisions import REVISIONS
from tests.cli.commands import Jarvis
from tests.support.servers import Postgres


def migrate_line(out: str) -> str:
    return out.splitlines()[-1].removeprefix("migrate").strip()


def set_revision(jarvis: Jarvis, revision: str) -> None:
    with sqlite3.connect(jarvis.settings.data_dir / "jarvis.db") as database:
        database.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    database.close()


def test_a_current_schema_needs_nothing(jarvis: Jarvis) -> None:
    ended = jarvis("admin", "status")
    assert ended.code == 0
    assert f"schema   {REVISIONS[-1]}\n" in ended.out
    assert migrate_line(ended.out) == "nothing to do"


def test_an_older_schema_shows_the_pending_revisions_and_stays(jarvis: Jarvis) -> None:
    set_revision(jarvis, REVISIONS[-3])
    for _ in range(2):
        ended = jarvis("admin", "status")
        assert (ended.code, migrate_line(ended.out)) == (2, f"would apply {REVISIONS[-2]}, {REVISIONS[-1]}")


def test_a_newer_schema_asks_for_an_upgrade_of_the_program(jarvis: Jarvis) -> None:
    set_revision(jarvis, "9999")
    ended = jarvis("admin", "status")
    assert (ended.code, ended.err) == (2, "")
    assert "schema   9999\n" in ended.out
    assert "upgrade jarvis-workers" in migrate_line(ended.out)


def test_a_missing_store_is_not_created(jarvis: Jarvis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(tmp_path / "data")
    ended = jarvis("admin", "status")
    assert (ended.code, migrate_line(ended.out)) == (2, "would create the tables")
    assert not (tmp_path / "data").exists()


def test_an_address_without_a_database_is_one_line(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_STORE_URL", "postgresql://user:pass@127.0.0.1:1/jarvis")
    ended = jarvis("admin", "status")
    assert ended.code == 2
    assert ended.line.endswith("see JARVIS_STORE_URL")
    assert "pass@" not in ended.line


@pytest.mark.slow
def test_an_empty_postgresql_database_would_get_the_tables(
    jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch, postgres_server: Postgres
) -> None:
    for database, action in (("template", "nothing to do"), ("postgres", "would create the tables")):
        monkeypatch.setenv("JARVIS_STORE_URL", postgres_server.url(database))
        assert migrate_line(jarvis("admin", "status").out) == action
