"""Read the output of `gcov --json-format --stdout`: which lines of functions were run.

The programs that wrote the counts are untrusted: lines without the expected form are skipped.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

# Executable lines of a function, and whether they were run, by file relative to the root, and name.
LineCoverage = Mapping[tuple[str, str], Mapping[int, bool]]
MOST_LINES = 1_000_000


class LineCount(NamedTuple):
    """How many executable lines a function has, and how many of them were run."""

    total: int = 0
    run: int = 0


def read_coverage(output: bytes, root: str) -> LineCoverage:
    """Return the lines of the functions below a directory; a line that any program has run counts as run."""
    result = defaultdict[tuple[str, str], dict[int, bool]](dict)
    inside = os.path.realpath(root) + "/"
    for content in output.splitlines():
        for path, row in _rows(content):
            name, number, count = row.get("function_name"), row.get("line_number"), row.get("count")
            if not path.startswith(inside) or not isinstance(name, str) or not isinstance(number, int):
                continue
            lines = result[path.removeprefix(inside), name]
            if isinstance(count, int) and len(lines) < MOST_LINES:
                lines[number] = lines.get(number, False) or count > 0
    return result


def _rows(content: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        report = json.loads(content)
        directory = report["current_working_directory"]
        for file in report["files"]:
            path = os.path.normpath(os.path.join(directory, file["file"]))  # noqa: PTH118
            yield from ((path, row) for row in file["lines"] if isinstance(row, dict))
    except (ValueError, KeyError, TypeError, RecursionError):
        return


def count_lines(coverage: LineCoverage, file: str, function: str) -> LineCount:
    """Return how many lines of a function were run; none if nothing is known."""
    lines = coverage.get((file, function), {})
    return LineCount(len(lines), sum(lines.values()))
