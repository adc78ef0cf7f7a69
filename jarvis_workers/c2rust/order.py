"""The order in which symbols are translated: types before functions, callees before their callers.

A step is a strongly connected component of the call graph, so a cycle of calls is one step.  Among the steps whose
callees are done, the first by file and line comes next; delayed entry points, such as `main`, and their callers come
last.
"""

import heapq
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.c2rust.components import strong_components
from jarvis_workers.c2rust.symbol import OrderStep, Symbol, SymbolGraph
from jarvis_workers.source.clang.unit import Category, ReferenceKind

ENTRY = "main"


class _StepRank(NamedTuple):
    """The rank of a step; the step with the lowest rank comes next."""

    late: bool
    depth: int
    file: bytes
    line: int
    column: int
    id: int


def translation_order(graph: SymbolGraph, delayed: Collection[str] = ()) -> list[OrderStep]:
    """Return the steps for all types and functions; `delayed` are names of entry points in addition to `main`."""
    types, functions = _of(graph, "type"), _of(graph, "function")
    ranks = {number: _rank(symbol, {ENTRY, *delayed}) for number, symbol in (types | functions).items()}
    return [
        *_topological(types, _callees(graph, types, "type"), ranks),
        *_topological(functions, _callees(graph, functions, "call"), ranks),
    ]


def order_by_depth(graph: SymbolGraph, delayed: Collection[str] = ()) -> list[OrderStep]:
    """Return the order of a graph without edges: by the depth of calls, then by file and line.

    Calls are matched by name. Without names of calls, this is the order of the files.
    """
    functions, types = _of(graph, "function"), _of(graph, "type")
    depths = _depths(functions, _callees_by_name(functions))
    ranks = [_rank(symbol, {ENTRY, *delayed}, depths[number]) for number, symbol in functions.items()]
    return [OrderStep((rank.id,)) for rank in (*sorted(_rank(symbol, ()) for symbol in types.values()), *sorted(ranks))]


def _of(graph: SymbolGraph, category: Category) -> dict[int, Symbol]:
    return {symbol.id: symbol for symbol in graph.symbols if symbol.category == category}


def _rank(symbol: Symbol, late: Collection[str], depth: int = 0) -> _StepRank:
    return _StepRank(symbol.name in late, depth, *symbol.extent[:3], symbol.id)


def _callees(graph: SymbolGraph, symbols: Mapping[int, Symbol], kind: ReferenceKind) -> dict[int, list[int]]:
    callees: dict[int, list[int]] = {number: [] for number in symbols}
    for edge in graph.edges:
        if edge.kind == kind and edge.caller in symbols and edge.callee in symbols:
            callees[edge.caller].append(edge.callee)
    return callees


def _topological(
    nodes: Mapping[int, Symbol], callees: Mapping[int, Sequence[int]], ranks: Mapping[int, _StepRank]
) -> list[OrderStep]:
    """Return the components, callees first, by Kahn's algorithm.

    Among those that are ready, the lowest rank comes first.
    """
    components = strong_components(nodes, callees)
    component_of = {number: place for place, ids in enumerate(components) for number in ids}
    needs = [{component_of[callee] for number in ids for callee in callees[number]} for ids in components]
    callers: defaultdict[int, list[int]] = defaultdict(list)
    for place, needed in enumerate(needs):
        needed.discard(place)
        for callee in needed:
            callers[callee].append(place)
    ready = [(_step_rank(components[place], ranks), place) for place, needed in enumerate(needs) if not needed]
    heapq.heapify(ready)
    steps = []
    while ready:
        _, done = heapq.heappop(ready)
        steps.append(OrderStep(components[done]))
        for place in callers[done]:
            needs[place].discard(done)
            if not needs[place]:
                heapq.heappush(ready, (_step_rank(components[place], ranks), place))
    return steps


def _step_rank(ids: tuple[int, ...], ranks: Mapping[int, _StepRank]) -> _StepRank:
    """Return the rank of a step; a step that contains a delayed entry point comes late."""
    return min(ranks[number] for number in ids)._replace(late=any(ranks[number].late for number in ids))


def _callees_by_name(functions: Mapping[int, Symbol]) -> dict[int, list[int]]:
    """Return the functions that each one calls by name, functions of its own file first."""
    named: defaultdict[str, list[Symbol]] = defaultdict(list)
    for symbol in functions.values():
        named[symbol.name].append(symbol)
    return {
        number: [
            min(named[name], key=lambda one: (one.extent.file != symbol.extent.file, one.extent[:3], one.id)).id
            for name in symbol.calls
            if name in named
        ]
        for number, symbol in functions.items()
    }


def _depths(functions: Mapping[int, Symbol], callees: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Return the length of the longest chain of calls below each function; a cycle counts as one function."""
    depths: dict[int, int] = {}
    for ids in strong_components(functions, callees):
        below = [depths[callee] + 1 for number in ids for callee in callees[number] if callee not in ids]
        depths.update(dict.fromkeys(ids, max(below, default=0)))
    return depths
