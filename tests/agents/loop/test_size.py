"""What agents are made of stays small enough to be read, and quick to import."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.machine import is_within

ROOT = Path(__file__).parents[3]
PACKAGES, MOST_LINES = ("agents/loop", "agents/tools", "sandbox", "models/platforms"), 7_500
IMPORT = "import time, jarvis_workers.agents.loop.loop; print(time.process_time())"
MOST_SECONDS, TRIES = 0.3, 3


def test_agents_tools_sandbox_and_platforms_have_few_lines_of_code() -> None:
    files = [path for name in PACKAGES for path in (ROOT / "jarvis_workers" / name).rglob("*.py")]

    assert len(files) > 50
    assert sum(lines_of_code(path.read_text()) for path in files) <= MOST_LINES


@pytest.mark.timing
def test_the_loop_is_imported_in_three_tenths_of_a_second() -> None:
    assert is_within(min(seconds_to_import() for _ in range(TRIES)), MOST_SECONDS)


def seconds_to_import() -> float:
    """Return the CPU seconds that a new process takes, its own start included, where nobody counts coverage."""
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", IMPORT], env=environ, capture_output=True, text=True, check=True)
    return float(done.stdout)


def lines_of_code(text: str) -> int:
    """Count the lines of a module but for empty ones, comments and docstrings."""
    lines = [line.strip() for line in text.splitlines()]
    bodies = [getattr(node, "body", None) for node in ast.walk(ast.parse(text))]
    firsts = [body[0] for body in bodies if isinstance(body, list) and body and isinstance(body[0], ast.Expr)]
    for doc in (first for first in firsts if isinstance(first.value, ast.Constant)):
        for number in range(doc.lineno - 1, doc.end_lineno or doc.lineno):
            lines[number] = ""
    return sum(bool(line) and not line.startswith("#") for line in lines)
