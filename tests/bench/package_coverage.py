"""Fail if a test run leaves too many lines of the project, or of one package, uncovered.

    sh deploy/test.sh --cov --cov-report= && .venv/bin/python tests/bench/package_coverage.py

Reads the coverage data in the current directory. Programs that tests start do not count.
"""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path, PurePosixPath

WHOLE_PERCENT, PACKAGE_PERCENT = 85, 70


def main() -> int:
    """Print a line per package; return 1 if the coverage of a package or of the project is below its bound."""
    with tempfile.TemporaryDirectory() as place:
        written = Path(place) / "coverage.json"
        subprocess.run([sys.executable, "-m", "coverage", "json", "-q", "-o", written], check=True)
        files = json.loads(written.read_text())["files"]
    lines, covered = Counter[str](), Counter[str]()
    for name, about in files.items():
        for package in (package_of(name), "all"):
            lines[package] += about["summary"]["num_statements"]
            covered[package] += about["summary"]["covered_lines"]
    too_low = 0
    for package, number in sorted(lines.items(), key=lambda item: (item[0] == "all", item[0])):
        percent = 100 * covered[package] / max(number, 1)
        is_low = percent < (WHOLE_PERCENT if package == "all" else PACKAGE_PERCENT)
        too_low += is_low
        print(f"{package:20} {number:6} lines {percent:6.1f} %{'  TOO LOW' if is_low else ''}")
    return 1 if too_low else 0


def package_of(name: str) -> str:
    """Return the package of a file: the directory below jarvis_workers, or the module if it is in none."""
    parts = PurePosixPath(name).parts
    return parts[1] if len(parts) > 2 else "(top level)"


if __name__ == "__main__":
    sys.exit(main())
