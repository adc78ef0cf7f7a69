"""A file of an argument or a setting that is a pipe, a device or a directory is one line, and no command waits."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_workers.paths import read_regular
from tests.cli.commands import COPY, Jarvis

CODE = "src/a.c"


def pipe(place: Path) -> None:
    os.mkfifo(place)


def device(place: Path) -> None:
    place.symlink_to("/dev/zero")


KINDS = [pipe, device, Path.mkdir]
COMMANDS = {
    "baseline.json": ("sec", "fast", CODE, "--baseline", "baseline.json"),
    "own.yaml": ("sec", "fast", CODE),
    "jarvis.yaml": ("sec", "fast", CODE),
    "pyproject.toml": ("sec", "fast", CODE),
    "settings.yaml": ("code", "-n", "-r", "x", "-f", "settings.yaml"),
    "store": ("runs", "list"),
    "rules.yaml": ("sec", "rules", "test", "rules.yaml"),
    "triage.yaml": ("sec", "triage", "--import", "triage.yaml"),
    "memories.json": ("memory", "import", "memories.json"),
    "agent.yaml": ("agent", "-T", "x", "-c", "agent.yaml"),
    "team.yaml": ("team", "-T", "x", "-c", "team.yaml"),
    "values.yaml": ("k8s", "render", "sec", "--source", "/x", "--name", "x", "--values", "values.yaml"),
    "compile_commands.json": ("c2rust", "scan", "-p", "src", "--compile-commands", "compile_commands.json"),
}


@pytest.mark.parametrize("make", KINDS, ids=["pipe", "device", "directory"])
@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_no_regular_file_is_one_line(
    jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch, name: str, make: Callable[[Path], None]
) -> None:
    if (name, make) == ("own.yaml", Path.mkdir):
        pytest.skip("rules may be in a directory")
    jarvis.tree(".", {CODE: COPY})
    make(jarvis.place / name)
    if name == "own.yaml":
        monkeypatch.setenv("JARVIS_RULES__PATHS", name)
    if name == "store":
        monkeypatch.setenv("JARVIS_STORE_URL_FILE", name)
    ended = jarvis(*COMMANDS[name])

    assert ended.code in (2, 3), (ended.out, ended.err)
    assert "Traceback" not in ended.err and "internal error" not in ended.err
    assert any(name in line for line in ended.err.splitlines()), ended.err


def test_a_file_is_read_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100)

    assert read_regular(tmp_path / "a", 99) == read_regular(tmp_path / "a", 200) == b"x" * 100
    assert read_regular(tmp_path / "a", 9) == b"x" * 10
