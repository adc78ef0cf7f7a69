"""What agents are made of stays small enough to be read, and quick to import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES, MOST_LINES = ("agent", "tools", "sandbox", "platforms"), 6_000
IMPORT = "import time, jarvis_workers.agent.loop; print(time.process_time())"
MOST_SECONDS, TRIES = 0.3, 3


def test_agents_tools_sandbox_and_platforms_have_six_thousand_lines() -> None:
    files = [path for name in PACKAGES for path in (ROOT / "jarvis_workers" / name).rglob("*.py")]

    assert len(files) > 50
    assert sum(len(path.read_text().splitlines()) for path in files) <= MOST_LINES


@pytest.mark.timing
def test_the_loop_is_imported_in_three_tenths_of_a_second() -> None:
    assert min(seconds_to_import() for _ in range(TRIES)) <= MOST_SECONDS


def seconds_to_import() -> float:
    """Return the CPU seconds that a new process takes, its own start included, where nobody counts coverage."""
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", IMPORT], env=environ, capture_output=True, text=True, check=True)
    return float(done.stdout)
