"""Run the tests repeatedly, on an idle and on a busy machine, and list flaky tests.

    python tests/bench/flakes.py [--quiet 5] [--busy 3] [--timing 20] [--load 4] [--workers 2]

There are `quiet` runs of the quick set, `busy` runs next to `load` busy processes, and `timing` runs of the tests with
the marker `timing`, under the same load. The output has a line per run and the names of all tests that failed; the exit
code is 1 if there are any.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
FAILED_TEST = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
COUNT = "while True:\n    pass\n"
# Nobody waits longer for one run.
RUN_SECONDS = 3 * 3600


def main() -> int:
    """Run all tests, and print a summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quiet", type=int, default=5, help="runs of the quick set")
    parser.add_argument("--busy", type=int, default=3, help="runs of the quick set under load")
    parser.add_argument("--timing", type=int, default=20, help="runs of the tests marked `timing` under load")
    parser.add_argument("--load", type=int, default=4, help="number of busy processes")
    parser.add_argument("--workers", default="2", help="number of pytest processes")
    parser.add_argument("--slow", action="store_true", help="include slow tests among those marked `timing`")
    asked = parser.parse_args()
    timing = "timing and not long and not bench" + ("" if asked.slow else " and not slow")
    with_timing = files_with(timing) if asked.timing else []
    failed = Counter[str]()
    for kind, times, load, options in (
        ("quiet", asked.quiet, 0, []),
        ("busy", asked.busy, asked.load, []),
        ("timing", asked.timing, asked.load, ["-m", timing, *with_timing]),
    ):
        for number in range(1, times + 1):
            with counting(load):
                failed.update(run(f"{kind} {number} of {times}", ["-n", asked.workers, *options]))
    for name, times in failed.most_common():
        print(f"{times:4} x {name}")
    return 1 if failed else 0


def files_with(marks: str) -> list[str]:
    """Return the test files with tests of these markers; collecting only these takes a fraction of the time."""
    listed = pytest(["--collect-only", "-n0", "-m", marks]).stdout
    return sorted({line.partition("::")[0] for line in listed.splitlines() if "::" in line})


def run(what: str, options: list[str]) -> list[str]:
    """Run the tests once; return the names of those that failed."""
    began = time.monotonic()
    done = pytest(["--dist", "worksteal", *options])
    names = FAILED_TEST.findall(done.stdout)
    if done.returncode and not names:
        names = [f"(exit code {done.returncode}: {done.stdout[-300:]})"]
    summary = (done.stdout.strip().splitlines() or [""])[-1]
    print(f"{what}: {summary} [{time.monotonic() - began:.0f} s]", flush=True)
    for name in names:
        print(f"    {name}", flush=True)
    return names


def pytest(options: list[str]) -> subprocess.CompletedProcess[str]:
    """Run pytest, with its output captured."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "pytest", "-q", *options]
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=RUN_SECONDS)


@contextmanager
def counting(processes: int) -> Iterator[None]:
    """Keep processors busy during the block."""
    started = [subprocess.Popen([sys.executable, "-c", COUNT]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
