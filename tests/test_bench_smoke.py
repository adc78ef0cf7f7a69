"""The benches, which only people run, still start: each is imported, and a small share runs with tiny sizes.

Their bounds in seconds hold on a quiet machine only; here, ratios to work in the same process or run are compared.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jarvis_workers.sec.scanner import Scanner
from tests.bench.bare import CLIENT
from tests.bench.peers import cpu_of_children, flawfinder
from tests.bench.rounds import slow_server
from tests.bench.trees import make_tree, source

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
ROOT = Path(__file__).parents[1]
FILES, TURNS = 1_000, 3
# Measured on a busy machine: 3.4 times as fast as flawfinder; about 12 times the CPU time of the minimal client.
TIMES_FLAWFINDER, TIMES_CLIENT = 1.5, 30
# The start of the command is most of its CPU time with few files.
TWICE_THE_FILES = 1.5


def bench(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "bench", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=False, timeout=500
    )


def test_every_bench_is_imported() -> None:
    done = bench("--collect-only", "tests/bench")

    assert done.returncode == 0, done.stdout[-2_000:]


def test_the_bench_of_packing_runs_with_few_files() -> None:
    done = bench("tests/bench/test_orchestration.py", "-k", "packing", BENCH_FILES="200")

    assert done.returncode == 0, done.stdout[-2_000:]


def test_the_scan_takes_less_cpu_than_flawfinder(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_bytes(b"".join(map(source, range(FILES))))
    content, scanner = (tmp_path / "a.c").read_bytes(), Scanner()
    scanner.scan(b"", language="c/cpp")

    ours, theirs = [], []
    for _ in range(TURNS):
        began = time.process_time()
        scanner.scan(content, language="c/cpp")
        ours.append(time.process_time() - began)
        theirs.append(cpu_of_children(lambda: flawfinder(tmp_path)))

    print(f"\nscan {min(ours):.3f} s, flawfinder {min(theirs):.3f} s of CPU: {min(theirs) / min(ours):.1f}")
    assert min(theirs) / min(ours) >= TIMES_FLAWFINDER


def test_twice_as_many_files_cost_a_command_little_more(tmp_path: Path) -> None:
    costs: dict[int, list[float]] = {200: [], 400: []}
    for count, cost in costs.items():
        make_tree(tmp_path / str(count), count)
        for turn in range(2):
            environ = os.environ | {"JARVIS_DATA_DIR": str(tmp_path / f"data{count}-{turn}")}
            command = [sys.executable, "-m", "jarvis_cli", "sec", "fast", "-q", "-p", str(count), "--depth", "rules"]
            report = tmp_path / f"{count}-{turn}.json"
            command += ["-j", "1", "-o", str(report)]
            cost.append(
                cpu_of_children(lambda c=command, e=environ: subprocess.run(c, env=e, check=True, cwd=tmp_path))
            )
            assert json.loads(report.read_text())["summary"]["scanned_files"] == count

    few, many = (min(cost) for cost in costs.values())
    print(f"\n200 files {few:.2f} s, 400 files {many:.2f} s of CPU: {many / few:.2f}")
    assert many / few <= TWICE_THE_FILES


def test_a_round_of_a_conversation_costs_a_multiple_of_the_minimal_client(tmp_path: Path) -> None:
    with slow_server(0.02) as url:
        command = [sys.executable, "-m", "tests.bench.conversing", url, "20", str(tmp_path), "p"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    facts = json.loads(done.stdout)
    ratio = facts["cpu_ms_a_round"] / facts[f"cpu_ms_a_round_of_{CLIENT}"]
    print(f"\n{facts}: {ratio:.1f}")
    assert ratio <= TIMES_CLIENT
