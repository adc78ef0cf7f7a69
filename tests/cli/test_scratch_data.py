"""A scan by a user whose home cannot be written: it works, and nothing of it is kept."""

import json
import sys
import tempfile
from pathlib import Path

import pytest

from jarvis_workers.settings import Settings
from tests.cli.commands import COPY, Jarvis


@pytest.fixture
def homeless(jarvis: Jarvis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jarvis:
    """A user whose home is no directory: not even root can make one in it."""
    (tmp_path / "home").write_text("")
    (tmp_path / "tmp").mkdir()
    for name in ("JARVIS_DATA_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    jarvis.tree("tree", {"a.c": COPY})
    return jarvis


@pytest.mark.slow
@pytest.mark.parametrize("output", ["-", "report.json"])
def test_a_scan_without_a_home_uses_a_temporary_data_directory(homeless: Jarvis, tmp_path: Path, output: str) -> None:
    ended = homeless("sec", "fast", "-p", "tree", "--format", "json", "-o", output, "-q")
    report = ended.out if output == "-" else Path(output).read_text()

    assert ended.code == 0
    assert len(json.loads(report)["issues"]) == 1
    assert ended.line.startswith(f"jarvis: {Settings().data_dir}: cannot be created: ")
    assert ended.line.endswith("; this run is not stored (to store runs, set JARVIS_DATA_DIR)")
    assert list((tmp_path / "tmp").glob("jarvis-data-*")) == []


@pytest.mark.slow
def test_a_run_that_is_not_kept_is_not_offered_for_later(homeless: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    ended = homeless("sec", "fast", "tree")

    assert ended.code == 0
    assert "jarvis runs report" not in ended.err


def test_a_data_directory_that_was_set_is_not_replaced(
    homeless: Jarvis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "home" / "data"))
    ended = homeless("sec", "fast", "-p", "tree", "-o", "-", "-q")

    assert ended.code == 2
    assert "set JARVIS_DATA_DIR" in ended.line


@pytest.mark.parametrize("command", [("runs", "list"), ("runs", "show", "last")])
def test_what_needs_the_store_is_refused_without_a_home(homeless: Jarvis, command: tuple[str, ...]) -> None:
    ended = homeless(*command)

    assert ended.code == 2
    assert "set JARVIS_DATA_DIR" in ended.line
