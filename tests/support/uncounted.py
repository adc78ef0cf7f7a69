"""Measure in a process without coverage, so that the same bound applies with and without it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import importlib, sys, time
module, name, *given = sys.argv[1:]
call = getattr(importlib.import_module(module), name)
began = time.process_time()
call(*given)
print(time.process_time() - began)
"""


def cpu_seconds(call: Callable[..., object], *given: str) -> float:
    """Return the CPU time of a function of a module; raises an error if it raises."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_PROCESS")}
    program = [sys.executable, "-c", PROGRAM, call.__module__, call.__name__, *given]
    done = subprocess.run(program, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)
