"""The report of a large file does not depend on CPU seconds: neither on the limit, nor on the speed of the machine."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sec.proof.crates import CratePackage

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]
ROOT = Path(__file__).parents[2]
SQLITE = CratePackage(
    "libsqlite3-sys", "0.40.0", "b06e69070b7e12262b0cd90832f0a7396f142a2b330181255562decf9f0c6215", "sqlite3"
)
# A clock that counts the CPU time of the limits fourfold.
FOURFOLD = """
import signal, time
setitimer, process_time = signal.setitimer, time.process_time
def faster(which, seconds, *rest):
    return setitimer(which, seconds / 4 if which == signal.ITIMER_PROF else seconds, *rest)
signal.setitimer, time.process_time = faster, lambda: 4 * process_time()
"""


def report(tree: Path, home: Path, seconds: float, clock: str = "") -> dict[str, object]:
    """Scan with a CPU limit, and return the findings and what was not checked."""
    home.mkdir()
    (home / "sitecustomize.py").write_text(clock)
    environment = os.environ | {
        "JARVIS_DATA_DIR": str(home / "data"),
        "JARVIS_SCAN__FILE_SECONDS": str(seconds),
        "PYTHONPATH": f"{home}:{ROOT}",
    }
    command = [sys.executable, "-m", "jarvis_cli", "sec", "fast", "-q", "-j", "1", "--no-cache", "-p", str(tree)]
    subprocess.run([*command, "-o", str(home / "report.json")], env=environment, check=False, capture_output=True)
    content: dict[str, object] = json.loads((home / "report.json").read_text())
    del content["run"]
    return content


def test_the_report_of_sqlite_is_the_same_for_every_cpu_limit_and_clock(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    shutil.copy(SQLITE.unpacked(tmp_path) / "sqlite3.c", tree)

    first, *others = [
        report(tree, tmp_path / f"{seconds}{bool(clock)}", seconds, clock)
        for seconds in (10, 2.5, 40)
        for clock in ("", FOURFOLD)
    ]

    assert all(one == first for one in others)
    summary = first["summary"]
    assert isinstance(summary, dict)
    assert summary["total"] >= 99
    assert all("to its end" in gap["reason"] for gap in summary["not_checked"])
