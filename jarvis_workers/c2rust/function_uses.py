"""Which functions a function uses: those that it calls or takes the address of, directly or through globals and macros.

In contrast to the roots of a call graph, a callback is not a root: the function that passes it on uses it.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jarvis_workers.c2rust.queries import named_symbols
from jarvis_workers.c2rust.symbol import SymbolGraph

INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class UseGraph:
    """The functions that each function uses, sorted by id, and those that globals visible to other programs name."""

    uses: Mapping[int, Sequence[int]]
    exported: frozenset[int] = frozenset()

    def reached(self, start: Iterable[int], stops: Collection[int] = ()) -> list[int]:
        """Return the functions that some functions reach, including them, breadth-first; `stops` lead no further."""
        order = list(dict.fromkeys(start))
        seen = set(order)
        for number in order:  # grows while it is read
            for used in () if number in stops else self.uses[number]:
                if used not in seen:
                    seen.add(used)
                    order.append(used)
        return order


def function_uses(graph: SymbolGraph) -> UseGraph:
    """Return the uses among the functions of a graph."""
    targets: defaultdict[int, list[int]] = defaultdict(list)
    for edge in graph.edges:
        if graph.by_id[edge.callee].category != "type":
            targets[edge.caller].append(edge.callee)
    functions = {symbol.id for symbol in graph.symbols if symbol.category == "function"}
    tables = [one.id for one in graph.symbols if one.category == "global" and INTERNAL not in one.facts]
    return UseGraph(
        {number: sorted(set(_functions_from(number, targets, functions)) - {number}) for number in sorted(functions)},
        frozenset(used for table in tables for used in _functions_from(table, targets, functions)),
    )


def _functions_from(start: int, targets: Mapping[int, list[int]], functions: Collection[int]) -> Iterator[int]:
    """Yield the functions that a symbol names, directly or through other symbols."""
    waiting, seen = deque([start]), {start}
    while waiting:
        for target in targets.get(waiting.popleft(), ()):
            if target in functions:
                yield target
            elif target not in seen:
                seen.add(target)
                waiting.append(target)


def root_functions(graph: SymbolGraph, uses: UseGraph, names: Sequence[str] = ()) -> list[int]:
    """Return the functions with these names, in their order; without names, those that no other function uses.

    Functions of exported globals are roots, too, and so are functions that no root reaches, which call each other in a
    cycle.  Raises UsageError for an unknown name.
    """
    if names:
        return list(dict.fromkeys(one.id for name in names for one in named_symbols(graph, name, "function")))
    used = {number for callees in uses.uses.values() for number in callees}
    roots = [number for number in uses.uses if number not in used or number in uses.exported]
    reached = set(uses.reached(roots))
    return [*roots, *(number for number in uses.uses if number not in reached)]
