"""`run_scan`: a C project read as a run of the results store."""

import shutil
from pathlib import Path

import pytest

from jarvis_workers.api import UsageError, find_root_function_ids, run_scan


@pytest.fixture
def project(tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    shutil.copyfile(sqlite_template, tmp_path / "data" / "jarvis.db")
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JARVIS_PROCESSES", "0")
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.c").write_text("static int one(int n) { return n; }\nint twice(int n) { return one(n) * 2; }\n")
    return root


def test_a_project_is_scanned_as_a_run(project: Path, tmp_path: Path) -> None:
    (project / "b.c").write_text('#include "gone.h"\n')

    found = run_scan(project, dot=tmp_path / "all.dot", png=False)

    assert found.symbols == project / ".jarvis" / "c2rust" / "symbols.jsonl"
    assert found.not_checked == (("b.c", "b.c:1: 'gone.h' file not found"),)
    assert len(found.run_id) == 8
    assert find_root_function_ids(found.symbols) == [2]
    assert "twice" in (tmp_path / "all.dot").read_text()


def test_graphs_of_a_project_without_symbols_are_refused(project: Path) -> None:
    with pytest.raises(UsageError, match="no symbols"):
        run_scan(project, only_dot=True, png=False)
