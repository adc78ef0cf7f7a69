"""The benches, which only people run, still start: each is imported, and a small share runs with tiny sizes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
ROOT = Path(__file__).parents[1]


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
