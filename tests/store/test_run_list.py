"""Runs are listed by one statement, and over a current SQLite store without the database libraries."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from jarvis_workers.store import runs
from jarvis_workers.store.engine import Store, open_store
from jarvis_workers.store.run_list import newest_listed
from jarvis_workers.store.sqlite_reader import open_direct
from tests.store.arrange import add_run

HEAVY = ("sqlalchemy", "sqlmodel", "alembic", "openai", "celery", "tree_sitter", "jinja2", "hyperscan", "rich")
LISTS = f"""
import sys
from pathlib import Path
from jarvis_workers.runs.run_list import list_runs
from jarvis_workers.settings import load_settings
found = list_runs(load_settings(directory=Path.cwd()), 5)
print([run.id for run in found], [name for name in {HEAVY} if name in sys.modules])
"""


def test_the_newest_runs_are_listed_on_each_database(store: Store) -> None:
    first, second = add_run(store), add_run(store)

    with store.read() as session:
        listed = newest_listed(lambda *asked: runs.fetch_mappings(session, *asked), store.dialect, 5, 30.0)

    assert {run.id for run in listed} == {first, second}
    assert [run.created_at for run in listed] == sorted((run.created_at for run in listed), reverse=True)
    assert all(run.worker is None and not run.fresh for run in listed)


def test_no_database_library_is_imported_to_list_the_runs_of_a_current_store(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'jarvis.db'}")
    run = add_run(store)
    store.close()

    environ = {"JARVIS_DATA_DIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", LISTS], env=environ, cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == f"{[run]} []"


def test_a_store_of_another_schema_is_left_to_the_engine(
    sqlite_url: str, open_stores: Callable[..., Store], tmp_path: Path
) -> None:
    with open_direct(f"sqlite:///{tmp_path / 'none.db'}") as connection:
        assert connection is None, "there is no such file"
    store = open_stores(sqlite_url)
    with open_direct(sqlite_url) as connection:
        assert connection is not None
    with store.write() as session:
        runs.fetch_mappings(
            session, "UPDATE alembic_version SET version_num = :old RETURNING version_num", {"old": "0001"}
        )

    with open_direct(sqlite_url) as connection:
        assert connection is None
