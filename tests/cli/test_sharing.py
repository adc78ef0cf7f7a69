"""`jarvis config share-methodology` and `share-tool`: what reaches the central repository."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import Jarvis


@pytest.fixture
def central(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "central.git"], check=True)
    return tmp_path / "central.git"


@pytest.mark.parametrize("command", ["share-methodology", "share-tool"])
def test_names_must_exist(
    jarvis: Jarvis, central: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    unknown = jarvis("config", command, "nothing", "--dry-run")

    assert "Missing argument 'NAME...'" in jarvis("config", command).line
    assert unknown.code == 2
    assert '"nothing"; available: none' in unknown.line


def test_a_methodology_is_shared(
    jarvis: Jarvis, central: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "data" / "methodologies"
    directory.mkdir()
    (directory / "a.json").write_text('{"problem_type": "memory leak", "content": "List the allocations."}')
    share = ("config", "share-methodology", "memory leak")

    assert "set central_repo in jarvis.yaml" in jarvis(*share).line
    monkeypatch.setenv("JARVIS_CENTRAL_REPO", f"file://{central}")
    dry, done, again = jarvis(*share, "--dry-run"), jarvis(*share), jarvis(*share)

    assert [ended.code for ended in (dry, done, again)] == [0, 0, 0]
    assert [ended.out for ended in (dry, done, again)] == ["methodologies/a.json\n", "methodologies/a.json\n", ""]
    assert "nothing was pushed" in dry.line
    assert "got these files (commit " in done.line
    assert "has all of them already" in again.line
    log = subprocess.run(
        ["git", "-C", central, "log", "--format=%s", "main"], capture_output=True, text=True, check=True
    )
    assert log.stdout == "Share methodologies: a.json\n"


def test_a_tool_of_the_user_is_shared(
    jarvis: Jarvis, central: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".jarvis" / "tools").mkdir(parents=True)
    (tmp_path / ".jarvis" / "tools" / "lookup.py").write_text("x = 1\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JARVIS_CENTRAL_REPO", f"file://{central}")

    assert jarvis("config", "share-tool", "lookup").out == "tools/lookup.py\n"
    monkeypatch.setenv("JARVIS_CENTRAL_REPO", f"file://{tmp_path}/nowhere.git")
    assert "nowhere.git: git: fatal: " in jarvis("config", "share-tool", "lookup").line
