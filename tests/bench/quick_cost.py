"""Fail if the tests of a run took more CPU than the quick set may, in all or by many expensive ones.

    sh deploy/test.sh --cov --cov-report= -p tests.bench.cpu_times --cpu-times FILE
    .venv/bin/python -m tests.bench.quick_cost FILE...

Reads the files of `cpu_times.py`, one for each process. The bounds are for a run with coverage, which takes twice as
much, on the machine that they were set on; one that was slower meanwhile has more. What is beyond them can be cheaper,
or is marked slow (docs/testing.md).
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

SLOW = re.compile(r"(?m)^ *([\d.]+) times as slow$")
SECONDS, EXPENSIVE_SECONDS, EXPENSIVE_TESTS = 600.0, 2.5, 20


def main(files: Sequence[str]) -> int:
    """Print the sum and the expensive tests; return 1 if either is beyond its bound, or if nothing was measured."""
    text = "".join(Path(file).read_text() for file in files)
    times, slower = times_in(text), mean(map(float, SLOW.findall(text) or ["1"]))
    most, long = SECONDS * slower, EXPENSIVE_SECONDS * slower
    whole = sum(times.values())
    expensive = {name: seconds for name, seconds in times.items() if seconds > long}
    for name, seconds in sorted(expensive.items(), key=lambda item: -item[1]):
        print(f"{seconds:9.2f} {name}")
    print(f"the machine was {slower:.2f} times as slow as the one that the bounds were set on")
    print(f"{len(times)} tests: {whole:.0f} CPU seconds of at most {most:.0f}")
    print(f"{len(expensive)} above {long:.1f} seconds, of at most {EXPENSIVE_TESTS}")
    return 1 if not times or whole > most or len(expensive) > EXPENSIVE_TESTS else 0


def times_in(text: str) -> dict[str, float]:
    """Return the CPU seconds of each test; other lines, and lines of a name that goes on, have none."""
    times = {}
    for line in text.splitlines():
        seconds, _, name = line.strip().partition(" ")
        if "::" in name and seconds.replace(".", "", 1).isdigit():
            times[name] = float(seconds)
    return times


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
