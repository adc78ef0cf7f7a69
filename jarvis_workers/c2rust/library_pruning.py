"""Which functions to ask a model about, parents before children, and the graph without what libraries replace.

The children of a function are asked about only if it is not replaced itself, so the result depends on the answers, not
on their order.
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from jarvis_workers.c2rust.function_uses import UseGraph
from jarvis_workers.c2rust.library_replacement import FunctionVerdict, LibraryReplacement
from jarvis_workers.c2rust.symbol import SymbolGraph

Verdicts = Mapping[int, FunctionVerdict]


class PrunedGraph(NamedTuple):
    """The graph that remains, the ids of the functions that libraries replace, and those of the pruned functions."""

    graph: SymbolGraph
    replaced: tuple[int, ...]
    pruned: tuple[int, ...]


def open_functions(uses: UseGraph, start: Iterable[int], verdicts: Verdicts, entries: Collection[int]) -> Iterator[int]:
    """Yield the functions to ask about, breadth-first; behind a function without a verdict, the walk ends.

    `entries` are never replaced: the functions that they use are asked about instead.
    """
    waiting = deque(dict.fromkeys(start))
    seen = set(waiting)
    while waiting:
        number = waiting.popleft()
        if number in entries or (number in verdicts and not verdicts[number].choice):
            more = [used for used in uses.uses[number] if used not in seen]
            seen.update(more)
            waiting.extend(more)
        elif number not in verdicts:
            yield number


def earlier_verdicts(graph: SymbolGraph) -> dict[int, FunctionVerdict]:
    """Return the verdicts on functions that an earlier run replaced."""
    return {one.id: FunctionVerdict(id=one.id, choice=one.replacement) for one in graph.symbols if one.replacement}


def pruned_functions(uses: UseGraph, roots: Iterable[int], verdicts: Verdicts) -> list[int]:
    """Return the functions that no root needs any longer."""
    needed = set(uses.reached(roots, {number for number, one in verdicts.items() if one.choice}))
    return [number for number in uses.uses if number not in needed]


def prune(graph: SymbolGraph, uses: UseGraph, roots: Iterable[int], verdicts: Verdicts, updated_at: str) -> PrunedGraph:
    """Return the graph without the functions that no root needs; symbols of other categories remain.

    A replaced function refers to its libraries only.  `updated_at` is the time of replacements that are new.
    """
    gone = set(pruned_functions(uses, roots, verdicts))
    chosen = {number: one.choice for number, one in verdicts.items() if one.choice and number not in gone}
    symbols = []
    for symbol in graph.symbols:
        choice = chosen.get(symbol.id)
        if choice and not symbol.replacement:
            found = LibraryReplacement(**choice.model_dump(), updated_at=updated_at)
            symbols.append(replace(symbol, replacement=found, calls=()))
        elif symbol.id not in gone:
            symbols.append(symbol)
    edges = [edge for edge in graph.edges if edge.caller not in chosen and not gone & {edge.caller, edge.callee}]
    return PrunedGraph(SymbolGraph(tuple(symbols), tuple(edges)), tuple(sorted(chosen)), tuple(sorted(gone)))
