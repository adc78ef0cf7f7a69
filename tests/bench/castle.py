"""Score findings on CASTLE-C250: 250 small programs of 25 weaknesses (Dubniczky et al., arXiv 2503.09433).

`python -m tests.bench.castle CASTLE-C250.json` scans the programs of the data set and prints points, precision and
recall from each confidence.  A program with a defect gives 5 points and a bonus if a finding has its weakness (or one
of the same class) on one of its lines, less one for each further finding; a program without gives 2 points if there is
no finding; every other finding takes one point.  The bonus is 5 for the first five weaknesses of the CWE Top 25 of 2024
down to 1 for the last five, 0 for others.  The published points were counted by people, who also accepted other lines
and weaknesses: ESBMC has 697, CodeQL 600.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_workers.api import ScanOptions, scan
from jarvis_workers.sec.same_defect import is_same_weakness

# https://cwe.mitre.org/top25/archive/2024/2024_cwe_top25.html, by rank.
TOP_25 = (
    79,
    787,
    89,
    352,
    22,
    125,
    78,
    416,
    862,
    434,
    94,
    20,
    77,
    287,
    269,
    502,
    200,
    863,
    918,
    119,
    476,
    798,
    190,
    400,
    306,
)
BAND = 5
FOUND, SILENT = 5, 2
# Lines that a finding may be away from those of the data set.
NEAR = 1
LEVELS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class Found(NamedTuple):
    """A finding in a program."""

    line: int
    cwe: int
    confidence: float


class Program(NamedTuple):
    """A program of the data set; without a defect it has no `lines`."""

    name: str
    code: str
    cwe: int
    lines: frozenset[int]

    def has(self, found: Found) -> bool:
        """Return whether a finding is its defect."""
        near = any(abs(line - found.line) <= NEAR for line in self.lines)
        return near and is_same_weakness(found.cwe, self.cwe)


def programs_of(text: str) -> list[Program]:
    """Return the programs of CASTLE-C250.json."""
    return [
        Program(one["name"], one["code"], int(one["cwe"]), frozenset(one["lines"] if one["vulnerable"] else ()))
        for one in json.loads(text)["tests"]
    ]


def bonus(cwe: int) -> int:
    """Return the additional points for a weakness."""
    return BAND - TOP_25.index(cwe) // BAND if cwe in TOP_25 else 0


def points(program: Program, found: Sequence[Found]) -> int:
    """Return the points for the findings in a program."""
    if any(program.has(one) for one in found):
        return FOUND + bonus(program.cwe) - (len(found) - 1)
    return -len(found) if found or program.lines else SILENT


def totals(programs: Sequence[Program], found: dict[str, list[Found]], least: float) -> Counter[str]:
    """Return points, and true and false positives and negatives, of the findings from a confidence."""
    total = Counter[str]()
    for program in programs:
        sure = [one for one in found.get(program.name, []) if one.confidence >= least]
        hit = any(program.has(one) for one in sure)
        total.update(points=points(program, sure), hits=hit, wrong=sum(not program.has(one) for one in sure))
        total.update(missed=bool(program.lines) and not hit)
    return total


def scanned(programs: Sequence[Program]) -> dict[str, list[Found]]:
    """Return the findings in each program, each scanned as a tree of its own."""
    with tempfile.TemporaryDirectory() as directory:
        for program in programs:
            place = Path(directory, program.name.removesuffix(".c"), program.name)
            place.parent.mkdir()
            place.write_text(program.code)
        report = scan(directory, options=ScanOptions())
    found: dict[str, list[Found]] = {}
    for one in report.findings:
        found.setdefault(Path(one.file).name, []).append(Found(one.start_line, one.cwe or 0, one.confidence))
    return found


def main(arguments: Sequence[str]) -> None:
    (file,) = arguments
    programs = programs_of(Path(file).read_text("utf-8"))
    found = scanned(programs)
    for least in LEVELS:
        one: Any = totals(programs, found, least)
        precision = one["hits"] / max(1, one["hits"] + one["wrong"])
        recall = one["hits"] / max(1, one["hits"] + one["missed"])
        print(f">= {least}: {one['points']} points, precision {precision:.2f}, recall {recall:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
