"""The graph as compact JSON for the page's script: columns instead of objects, edges in compressed sparse rows.

Symbols are numbered from 0 in the order of the graph.  Invisible characters are escaped first (see escape.py), since
the script shows text unchanged.  30,000 symbols with 50,000 edges take about 3 MB.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, get_args

from jarvis_workers.c2rust.report.body import lines_of
from jarvis_workers.c2rust.symbol import Edge, OrderStep, Symbol, SymbolGraph
from jarvis_workers.escape import visible
from jarvis_workers.markup import Html, script_data
from jarvis_workers.paths import shown
from jarvis_workers.source.clang.unit import Category, ReferenceKind

CATEGORIES: tuple[Category, ...] = get_args(Category)
EDGE_KINDS: tuple[ReferenceKind, ...] = get_args(ReferenceKind)
# Longer names and signatures are cut: they are for reading.
TEXT_MAX = 500


class _Table(dict[Hashable, int]):
    """Map that assigns the next number to each new value."""

    def __missing__(self, value: Hashable) -> int:
        self[value] = len(self)
        return self[value]


def graph_data(
    graph: SymbolGraph,
    order: Sequence[OrderStep],
    roots: Iterable[int],
    conversion: Mapping[str, Any] | None = None,
    translations: Mapping[str, str] | None = None,
) -> Html:
    """Return the JSON of a graph with its order and roots, its conversion, and translations of the script's texts."""
    index = {symbol.id: place for place, symbol in enumerate(graph.symbols)}
    files, kinds, facts, outside = _Table(), _Table(), _Table(), _Table()
    functions = {name for one in graph.symbols if one.category == "function" for name in (one.name, one.qualified_name)}
    columns = {
        "name": [_text(symbol.qualified_name or symbol.name) for symbol in graph.symbols],
        "file": [files[visible(shown(symbol.extent.file))] for symbol in graph.symbols],
        "line": [symbol.extent.line for symbol in graph.symbols],
        "lines": [lines_of(symbol) for symbol in graph.symbols],
        "category": "".join(str(CATEGORIES.index(symbol.category)) for symbol in graph.symbols),
        "kind": [kinds[symbol.kind] for symbol in graph.symbols],
        "signature": _sparse(index, graph.symbols, lambda one: _text(one.signature)),
        "facts": _sparse(index, graph.symbols, lambda one: [facts[visible(fact)] for fact in one.facts]),
        "outside": _sparse(
            index, graph.symbols, lambda one: [outside[_text(name)] for name in one.calls if name not in functions]
        ),
        "incomplete": [index[symbol.id] for symbol in graph.symbols if not symbol.complete],
    }
    return script_data(
        {
            **columns,
            **_edges(graph.edges, index),
            **{name: value for name, value in (("conversion", conversion), ("say", translations)) if value},
            "files": list(files),
            "categories": CATEGORIES,
            "kinds": [visible(str(kind)) for kind in kinds],
            "edgeKinds": EDGE_KINDS,
            "factNames": list(facts),
            "outsideNames": list(outside),
            "roots": [index[number] for number in roots],
            "order": [_step(step, index) for step in order],
        }
    )


def _step(step: OrderStep, index: Mapping[int, int]) -> int | list[int]:
    numbers = [index[number] for number in step.ids]
    return numbers[0] if len(numbers) == 1 else numbers


def _text(text: str) -> str:
    return visible(text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}…")


def _sparse(index: Mapping[int, int], symbols: Iterable[Symbol], value: Any) -> dict[int, Any]:
    """Return the non-empty values by symbol number."""
    return {index[symbol.id]: found for symbol in symbols if (found := value(symbol))}


def _edges(edges: Iterable[Edge], index: Mapping[int, int]) -> dict[str, Any]:
    """Return edges as the out-degree of each caller, the concatenated callees, and one digit per edge for its kind."""
    rows = defaultdict[int, list[tuple[int, int]]](list)
    for caller, callee, kind in edges:
        rows[index[caller]].append((index[callee], EDGE_KINDS.index(kind)))
    flat = [target for caller in range(len(index)) for target in rows.get(caller, ())]
    return {
        "degrees": [len(rows.get(caller, ())) for caller in range(len(index))],
        "callees": [callee for callee, _ in flat],
        "edgeKind": "".join(str(kind) for _, kind in flat),
    }
