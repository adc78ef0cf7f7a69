"""Memory of a scan of a large tree: the sum of PSS over the command and its children.

BENCH_TREE names the tree, such as drivers/net and fs of the Linux kernel (100 MB at least).
"""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

SUFFIXES = (".c", ".h", ".cpp", ".rs")
SAMPLE_SECONDS = 0.05
MEGABYTE = 1e6

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def whole() -> Path:
    tree = os.environ.get("BENCH_TREE")
    if not tree:
        pytest.skip("BENCH_TREE is not set")
    return Path(tree)


def test_memory_is_flat_in_the_size_of_the_tree(whole: Path, tmp_path: Path) -> None:
    half = tmp_path / "half"
    for path in sources(whole)[::2]:
        (half / path.relative_to(whole)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, half / path.relative_to(whole))
    peaks = [min(peak_of_scan(tree, tmp_path / f"{tree.name}{turn}") for turn in range(2)) for tree in (half, whole)]
    sizes = [sum(path.stat().st_size for path in sources(tree)) for tree in (half, whole)]
    for size, peak in zip(sizes, peaks, strict=True):
        print(f"{size / MEGABYTE:.0f} MB of source: peak PSS {peak / MEGABYTE:.1f} MB")

    assert peaks[1] < 400 * MEGABYTE
    assert peaks[1] < 1.10 * peaks[0]


def sources(tree: Path) -> list[Path]:
    return sorted(path for path in tree.rglob("*") if path.suffix in SUFFIXES and path.is_file())


def peak_of_scan(tree: Path, home: Path) -> int:
    """Scan with two processes; return the peak sum of PSS in bytes."""
    home.mkdir()
    environ = os.environ | {"JARVIS_DATA_DIR": str(home / "data")}
    command = [sys.executable, "-m", "jarvis_cli", "sec", "fast", "-q", "-j", "2"]
    command += ["-p", str(tree), "-o", str(home / "report.json")]
    with subprocess.Popen(command, env=environ, cwd=home) as running:
        family, pause, peak = psutil.Process(running.pid), threading.Event(), 0
        while running.poll() is None:
            peak = max(peak, pss(family))
            pause.wait(SAMPLE_SECONDS)
        assert running.returncode in (0, 3)
    shutil.rmtree(home / "data")
    return peak


def pss(family: psutil.Process) -> int:
    total = 0
    try:
        for process in [family, *family.children(recursive=True)]:
            total += process.memory_full_info().pss
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        pass
    return total
