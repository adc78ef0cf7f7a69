"""Rank the functions of a tree by how likely outside data makes them fail; no model is asked.

The score is danger times exposure. Danger grows with the logarithm of each count of `function_metrics`, so that a long
function does not win by its length alone. Exposure falls with the distance in the call graph from functions that read
outside data, and rises with bytes and a length among the parameters.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from math import log2
from typing import NamedTuple

from jarvis_workers.sec.discovery.function_metrics import FunctionMetrics

# Lengths and sizes count more than accesses: an unchecked one is a whole range of bad accesses.
WEIGHTS: Mapping[str, float] = {
    "allocations": 4,
    "products": 4,
    "copies": 3,
    "tainted": 3,
    "reads": 2,
    "decodes": 2,
    "parses": 1,
    "loops": 1,
    "moves": 1,
    "accesses": 1,
    "stores": 1,
}
DECAY, FURTHEST = 0.25, 8
OF_BYTES, OF_LENGTH = 0.3, 0.2
# A call may be one of so many functions of its name in other files.
CALLEES_MAX = 3
RANKED_MAX = 200_000
# Distance to a callee that gets outside data, to another callee, and to a caller.
PASSED, CALLED, CALLER = 1, 2, 1


class PlacedFunction(NamedTuple):
    """A function of a file; `file` is its displayed path."""

    file: str
    metrics: FunctionMetrics


class RankedFunction(NamedTuple):
    """A function with its score, and its distance from outside data; FURTHEST if none reaches it."""

    function: PlacedFunction
    score: float
    distance: int


def shortlist(functions: Iterable[PlacedFunction], most: int = RANKED_MAX) -> tuple[list[PlacedFunction], int]:
    """Return the `most` functions with the highest danger, and the number of all; a hostile tree may have millions."""
    number = count()
    weighed = ((_danger(one.metrics), one.file, one.metrics.line, next(number), one) for one in functions)
    return [one for *_, one in heapq.nlargest(most, weighed)], next(number)


def rank(functions: Sequence[PlacedFunction]) -> list[RankedFunction]:
    """Return the functions, those to look at first at the front; the order of the input does not matter."""
    ordered = sorted(functions, key=lambda one: (one.file, one.metrics.line, one.metrics.name))
    distances = _distances(ordered)
    ranked = [
        RankedFunction(one, _score(one.metrics, distance), distance)
        for one, distance in zip(ordered, distances, strict=True)
    ]
    return sorted(ranked, key=lambda one: -one.score)


def _score(metrics: FunctionMetrics, distance: int) -> float:
    exposure = 1 / (1 + DECAY * distance)
    if metrics.takes_bytes:
        exposure += OF_BYTES + (OF_LENGTH if metrics.takes_length else 0)
    return round(_danger(metrics) * exposure, 6)


def _danger(metrics: FunctionMetrics) -> float:
    return sum(weight * log2(1 + getattr(metrics, name)) for name, weight in WEIGHTS.items())


def _distances(functions: Sequence[PlacedFunction]) -> list[int]:
    """Return the distance of each function from one that reads outside data (Dijkstra's algorithm)."""
    edges = list(map(list[tuple[int, int]], _edges(functions)))
    for place, callees in enumerate([list(one) for one in edges]):
        for callee, _ in callees:
            edges[callee].append((place, CALLER))
    distances = [0 if one.metrics.reads else FURTHEST for one in functions]
    heap = [(0, place) for place, distance in enumerate(distances) if not distance]
    while heap:
        distance, place = heapq.heappop(heap)
        if distance > distances[place]:
            continue
        for other, length in edges[place]:
            if distance + length < distances[other]:
                distances[other] = distance + length
                heapq.heappush(heap, (distances[other], other))
    return distances


def _edges(functions: Sequence[PlacedFunction]) -> Iterator[list[tuple[int, int]]]:
    """Yield the places of the callees of each function, with the length of the way to each."""
    own: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    shared: defaultdict[str, list[int]] = defaultdict(list)
    for place, (file, metrics) in enumerate(functions):
        own[file, metrics.name].append(place)
        if not metrics.is_static:
            shared[metrics.name].append(place)
    for file, metrics in functions:
        passed = set(metrics.passes)
        yield [
            (callee, PASSED if name in passed else CALLED)
            for name in metrics.calls
            for callee in own.get((file, name)) or shared.get(name, ())[:CALLEES_MAX]
        ]
