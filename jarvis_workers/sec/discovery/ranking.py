"""Rank the functions of a tree by how likely they have a defect that outside data reaches; no model is asked.

The score is a weighted sum of logarithms of the counts of `function_metrics`. The weights were chosen with functions
that fixes of memory errors changed; `docs/accuracy.md` has the results. The distance in the call graph from functions
that read outside data did not improve them.
"""

import heapq
from collections.abc import Iterable, Mapping
from itertools import count
from math import log2
from typing import NamedTuple

from jarvis_workers.sec.discovery.function_metrics import FunctionMetrics

WEIGHTS: Mapping[str, float] = {
    "lines": 2,
    "allocations": 2,
    "tainted": 1,
    "copies": 1,
    "decodes": 1,
    "reads": 1,
    "loops": 0.5,
}
# A function that is not longer, and has only lines, has the score 0.
SHORT_LINES = 8


class PlacedFunction(NamedTuple):
    """A function of a file; `file` is its displayed path."""

    file: str
    metrics: FunctionMetrics


class RankedFunction(NamedTuple):
    """A function with its score."""

    function: PlacedFunction
    score: float


def rank(functions: Iterable[PlacedFunction], most: int) -> tuple[list[RankedFunction], int]:
    """Return the first `most` functions, those to look at first at the front, and the number of all.

    The order of the input does not matter; it is read once and not stored, since a hostile tree may have millions.
    """
    number = count()
    ordered = ((-score_of(one.metrics), one.file, one.metrics.line, next(number), one) for one in functions)
    ranked = [RankedFunction(one, -score) for score, _, _, _, one in heapq.nsmallest(most, ordered)]
    return ranked, next(number)


def score_of(metrics: FunctionMetrics) -> float:
    """Return the score of a function; 0 for a short one that has nothing to do with data."""
    parts = {name: weight * log2(1 + getattr(metrics, name)) for name, weight in WEIGHTS.items()}
    if metrics.lines <= SHORT_LINES and not any(part for name, part in parts.items() if name != "lines"):
        return 0.0
    return round(sum(parts.values()), 6)
