"""Crates of a small C library: the commands that write them, and their results without what they say of the run."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from tests.chaos.commands import PATIENCE_SECONDS, crowd
from tests.support.servers import require

PLAIN = Path(__file__).parents[1] / "data" / "c2rust" / "plain"
# The manifest of a crate names the run.
MANIFEST = ".jarvis-crate.json"


def copied(place: Path) -> Path:
    """Return a copy of the library in a directory."""
    require("cc", "make", "cargo", "nm", "gcov")
    return Path(shutil.copytree(PLAIN, place / "project"))


def arguments(command: str, project: Path, crate: Path, *more: str) -> list[str]:
    """Return the arguments of a command that converts the library."""
    words = ["c2rust", command, "-q", "-p", str(project), "--build", "make", "--test", "make test"]
    return [*words, *more, "--crate-dir", str(crate)]


def results(project: Path, crate: Path, environ: Mapping[str, str], ends: Collection[int] = (0,)) -> dict[str, object]:
    """Return the files of a conversion, and its reports, which exit with `ends`, without what they say of the run."""
    found: dict[str, object] = {
        str(path.relative_to(crate)): path.read_bytes()
        for path in sorted(crate.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }
    for name in ("symbol_map.jsonl", "progress.json"):
        found[name] = (project / ".jarvis" / "c2rust" / name).read_bytes()
    for form in ("json", "markdown", "html", "text"):
        command = [sys.executable, "-m", "jarvis_cli", "runs", "report", "last", "--format", form]
        shown = subprocess.run(command, env=environ, cwd=crate, stdout=subprocess.PIPE, check=False)
        assert shown.returncode in ends
        found[form] = shown.stdout
    found["json"] = json.loads(str(found["json"], "utf-8"))["conversion"]  # type: ignore[call-overload]
    return found


def converted(command: str, project: Path, home: Path, *more: str, **settings: str) -> dict[str, object]:
    """Return the results of a local conversion."""
    home.mkdir(exist_ok=True)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("JARVIS_")}
    environ |= {"JARVIS_DATA_DIR": str(home / "data"), "JARVIS_TICK_SECONDS": "0.1"} | settings
    ended = subprocess.run(
        [sys.executable, "-m", "jarvis_cli", *arguments(command, project, home / "crate", *more)],
        env=environ,
        cwd=home,
        stderr=subprocess.PIPE,
        check=False,
        timeout=2 * PATIENCE_SECONDS * crowd(),
    )
    assert ended.returncode == 0, ended.stderr
    return results(project, home / "crate", environ)
