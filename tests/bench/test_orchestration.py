"""Overhead of orchestration: a scan of 10^5 files of 1 KB.

Orchestration per file = (CPU of the command - CPU of the scanner alone - CPU of packing) / files, without flow rules,
since their summaries are work, not orchestration.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jarvis_workers.runs.scan_request import selection_of
from jarvis_workers.sec.rules import RULES
from jarvis_workers.sec.scanner import Scanner
from jarvis_workers.settings import load_settings
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.resources import open_blobs
from tests.bench.trees import make_tree

FILES = int(os.environ.get("BENCH_FILES", "100000"))
MICROSECONDS = 1e6
FLOW_PATTERNS = [rule.pattern for rule in RULES if rule.check is None]

SUBMIT = """
import re, sys, time
from pathlib import Path
from jarvis_workers.runs.scan_request import selection_of
from jarvis_workers.runs.wiring import blobs_of, open_store
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.runs.submit import submit
from jarvis_workers.settings import load_settings
from jarvis_workers.sec.stages.options import SecOptions

tree, home = map(Path, sys.argv[1:])
settings = load_settings({"data_dir": str(home)}, environ={}, directory=home)
store = open_store(settings.effective_store_url)
given = ScanInput(SecOptions(min_confidence=0.4, batch_files=2000, batch_bytes=16_000_000, processes=2))
request = RunRequest("r1", "sec.fast", tree, selection_of(settings), "local:x", given)
start = time.monotonic()
submit(store, blobs_of(settings), request)
peak_kb = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
print(time.monotonic() - start, int(peak_kb) / 1000)
"""

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    make_tree(root, FILES)
    return root


def test_orchestration_costs_at_most_50_microseconds_a_file(tree: Path, tmp_path: Path) -> None:
    rows = [measure(tree, tmp_path / str(attempt)) for attempt in range(3)]
    for row in rows:
        print(json.dumps(row))
    per_file = statistics.median(row["orchestration_us"] for row in rows)
    print(f"orchestration: {per_file:.1f} us CPU a file, median of 3")
    assert per_file <= 50


def test_packing_takes_at_most_10_seconds_and_300_megabytes(tree: Path, tmp_path: Path) -> None:
    said = subprocess.run([sys.executable, "-c", SUBMIT, tree, tmp_path], capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, said.stdout.split())
    print(f"submit of {FILES:,} files: {seconds:.1f} s, {megabytes:.0f} MB")
    assert seconds <= 10
    assert megabytes < 300


def measure(tree: Path, home: Path) -> dict[str, float]:
    command = command_cpu(tree, home)
    scanner, packing = scanner_cpu(tree), packing_cpu(tree, home)
    return {
        "command_s": round(command, 2),
        "scanner_s": round(scanner, 2),
        "packing_s": round(packing, 2),
        "orchestration_us": round((command - scanner - packing) / FILES * MICROSECONDS, 1),
    }


def command_cpu(tree: Path, home: Path) -> float:
    """Run the command with a separate store; return the CPU seconds of the command and its children."""
    home.mkdir()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environ = os.environ | {"JARVIS_DATA_DIR": str(home / "data")}
    command = [sys.executable, "-m", "jarvis_cli", "sec", "fast", "-q", "-p", tree, "-o", home / "report.json"]
    command += ["--exclude-rules", ",".join(FLOW_PATTERNS)]
    subprocess.run(command, env=environ, check=True, cwd=home)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads((home / "report.json").read_text())
    assert report["summary"]["scanned_files"] == FILES
    assert report["summary"]["total"] == FILES // 10
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def scanner_cpu(tree: Path) -> float:
    contents = [path.read_bytes() for path in sorted(tree.rglob("*.c"))]
    scanner = Scanner()
    start = time.process_time()
    for content in contents:
        scanner.scan(content, language="c/cpp")
    return time.process_time() - start


def packing_cpu(tree: Path, home: Path) -> float:
    selection = selection_of(load_settings(environ={}, directory=home))
    blobs = open_blobs(str(home / "packed"), home / "cache")
    start = time.process_time()
    pack(tree, selection, blobs)
    return time.process_time() - start
