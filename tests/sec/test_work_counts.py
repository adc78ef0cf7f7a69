"""What scanning and analysis cost, in counts that no load disturbs: a landing that costs more says so.

`python -m tests.sec.test_work_counts REASON` writes the counts of now to COUNTS, with the reason.
"""

import json
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from jarvis_workers.dataflow import FileAnalysis, summarize
from jarvis_workers.sec.scanner import Scanner
from tests.sec.following import look_nowhere
from tests.sec.generated_code import generated_files

COUNTS = Path(__file__).parents[1] / "data" / "work_counts.json"
FILES, MEGABYTE = 5, 1_000_000
TOLERANCE = 0.03
NAMES = (
    *("regex_searches", "calls_when_reading", "functions_analysed", "steps", "evaluations"),
    "calls_when_analyzing",
)
COUNTED_ON = (3, 11)
SEARCHES = frozenset(("search", "match", "fullmatch", "finditer", "findall", "sub", "split"))


class _Calls:
    """Counts calls of regular expressions, and of functions in Python, while it is in force, by the profiler."""

    def __init__(self) -> None:
        self.searches = self.functions = 0

    def __enter__(self) -> "_Calls":
        self._before = sys.getprofile()
        sys.setprofile(self._count)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)

    def _count(self, _frame: FrameType, event: str, called: Any) -> None:
        if event == "call":
            self.functions += 1
        elif event == "c_call" and called.__name__ in SEARCHES and isinstance(called.__self__, re.Pattern):
            self.searches += 1


def measured(number: int = FILES) -> dict[str, int]:
    """Return the counts for a megabyte of generated code."""
    files = list(generated_files(number))
    scanner = Scanner("re")
    scanner.scan(b"", language="c/cpp")
    counts = dict.fromkeys((*NAMES, "findings"), 0)
    for name, content in files:
        with _Calls() as reading:
            scan = scanner.scan(content, language="c/cpp")
            model = summarize(content, language="c/cpp", header=False, test=False, path=name)
        assert model is not None
        analysis = FileAnalysis(json.loads(json.dumps(model)), look_nowhere, test=False)
        with _Calls() as analyzing:
            counts["findings"] += len(analysis.run().hits) + len(scan.hits)
        counts["regex_searches"] += reading.searches
        counts["calls_when_reading"] += reading.functions
        counts["calls_when_analyzing"] += analyzing.functions
        counts["functions_analysed"] += analysis.work.functions
        counts["steps"] += analysis.work.steps
        counts["evaluations"] += analysis.work.evaluations
    size = sum(len(content) for _, content in files)
    return {name: round(number * MEGABYTE / size) for name, number in counts.items()}


@pytest.fixture(scope="module")
def counts() -> dict[str, int]:
    measured(1)  # The first file compiles patterns.
    return measured()


@pytest.mark.parametrize("name", NAMES)
def test_the_work_for_a_megabyte_of_code_stays_within_three_percent(name: str, counts: dict[str, int]) -> None:
    if name.startswith("calls") and sys.version_info[:2] != COUNTED_ON:
        pytest.skip("other versions of Python call other functions")
    expected = json.loads(COUNTS.read_text())["per_megabyte"]
    share = counts[name] / expected[name] - 1

    advice = (
        f"{name} a MB: {expected[name]:,} -> {counts[name]:,}. If that is meant: python -m tests.sec.test_work_counts"
    )
    assert share <= TOLERANCE, f"{advice} 'why it costs more'"
    assert share >= -TOLERANCE, f"{advice} 'what saves it'"


def test_the_generated_code_has_findings(counts: dict[str, int]) -> None:
    assert counts["findings"] > 100


def test_the_generator_gives_the_same_code_each_time() -> None:
    assert list(generated_files(3)) == list(generated_files(3))
    assert list(generated_files(3)) != list(generated_files(3, seed=2))


if __name__ == "__main__":
    measured(1)
    COUNTS.write_text(json.dumps({"reason": sys.argv[1], "per_megabyte": measured()}, indent=1) + "\n")
