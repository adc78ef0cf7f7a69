"""Weights of functions to translate: callees come before callers, and the longest chain of callers first.

The weight of a function is the length of the longest chain of callers above it (highest level first: Hu, "Parallel
sequencing and assembly line problems", 1961).  A cycle of calls counts as its number of functions.  Functions of files
with a high risk come before all others, those with findings that are simple to confirm first.
"""

from collections.abc import Collection, Mapping, Sequence

from jarvis_workers.c2rust.components import strong_components
from jarvis_workers.c2rust.symbol import Symbol, SymbolGraph
from jarvis_workers.paths import shown

# Findings of these rules come first (seed 001, choice of tasks).
FIRST_RULES = frozenset(("format_string", "scanf_no_width", "realloc_assign_back"))
# The files of a security report with the highest risk, each with its lines that have findings of FIRST_RULES.
RiskyFiles = Mapping[str, Sequence[int]]


def translation_weights(graph: SymbolGraph, risky: RiskyFiles) -> dict[str, int]:
    """Return the weights of the functions of a graph by their keys."""
    functions = {one.id: one for one in graph.symbols if one.category == "function"}
    levels = _levels(functions, graph)
    step = 1 + max(levels.values(), default=0)
    return {one.key: levels[number] + step * _risk(one, risky) for number, one in functions.items()}


def _risk(symbol: Symbol, risky: RiskyFiles) -> int:
    extent = symbol.extent
    lines = risky.get(shown(extent.file))
    if lines is None:
        return 0
    return 2 if any(extent.line <= line <= extent.end_line for line in lines) else 1


def _levels(functions: Collection[int], graph: SymbolGraph) -> dict[int, int]:
    """Return the length of the longest chain of callers above each function."""
    callees: dict[int, list[int]] = {number: [] for number in functions}
    callers: dict[int, list[int]] = {number: [] for number in functions}
    for edge in graph.edges:
        if edge.kind == "call" and edge.caller in callees and edge.callee in callees:
            callees[edge.caller].append(edge.callee)
            callers[edge.callee].append(edge.caller)
    levels: dict[int, int] = {}
    for component in reversed(strong_components(functions, callees)):
        above = _above(component, callers, levels)
        levels.update(dict.fromkeys(component, above + len(component)))
    return levels


def _above(component: Sequence[int], callers: Mapping[int, Sequence[int]], levels: Mapping[int, int]) -> int:
    """Return the highest level of the callers of a component, which have theirs already."""
    own = frozenset(component)
    return max((levels[caller] for one in component for caller in callers[one] if caller not in own), default=0)
