"""Programs of other analyzers on this machine."""

from pathlib import Path

import pytest

from jarvis_workers.toolchain.analyzers import Installed, installed_analyzers


@pytest.mark.parametrize(
    ("program", "place"),
    [
        ("home/bin/cppcheck", "home/bin"),
        ("home/.local/bin/cppcheck", "home/.local/bin"),
        ("bin/cppcheck", "bin"),
        ("opt/cppcheck/bin/cppcheck", "opt/cppcheck"),
    ],
)
def test_an_analyzer_reads_its_installation_but_no_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, place: str
) -> None:
    file = tmp_path / program
    file.parent.mkdir(parents=True)
    file.write_text("#!/bin/sh\necho Cppcheck 2.10\n")
    file.chmod(0o755)
    (tmp_path / "home").mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(file.parent))
    installed_analyzers.cache_clear()
    try:
        found = installed_analyzers()["cppcheck"]
    finally:
        installed_analyzers.cache_clear()

    assert found == Installed(str(file), "2.10", str(tmp_path / place))
