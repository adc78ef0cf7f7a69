"""Fixtures of command tests: `jarvis`, in a directory for each test."""

import os
import shutil
from pathlib import Path

import pytest

from jarvis_workers.runs.trusted_scope import SERVICES
from jarvis_workers.snapshots.resources import PATTERNS_FOLDER
from tests.cli.commands import Jarvis


@pytest.fixture
def jarvis(
    tmp_path: Path,
    sqlite_template: Path,
    compiled_patterns: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Jarvis:
    """Run commands in an empty directory, with a separate store, in English, with only the settings of the test."""
    own = ("JARVIS_", "GITHUB_", "GITLAB_", "CI", *SERVICES)
    for name in [name for name in os.environ if name.startswith(own)]:
        monkeypatch.delenv(name)
    place = tmp_path / "place"
    place.mkdir()
    cache = tmp_path / "data" / "cache"
    cache.mkdir(parents=True)
    (cache / PATTERNS_FOLDER).symlink_to(compiled_patterns)
    shutil.copyfile(sqlite_template, tmp_path / "data" / "jarvis.db")
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    # In this process, which has compiled the rules: a child takes ten times as long.
    monkeypatch.setenv("JARVIS_PROCESSES", "0")
    # Proofs compile, which takes seconds, and readers ask about every file; their tests ask for them.
    monkeypatch.setenv("JARVIS_AGENT__PROVE", "false")
    monkeypatch.setenv("JARVIS_AGENT__CANARY", "false")
    monkeypatch.setenv("JARVIS_AGENT__READ", "none")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.chdir(place)
    return Jarvis(place, capfd)
