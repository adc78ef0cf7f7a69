"""The body of a report on a symbol graph: counts, roots, cycles, sizes, facts, and what was not checked.

It is built once per run and rendered in several formats; the interactive page shows the whole graph instead.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest

from pydantic import TypeAdapter

from jarvis_workers.c2rust.symbol import Edge, OrderStep, Symbol, SymbolGraph
from jarvis_workers.paths import shown

# Length of the lists of largest and of most used functions.
TOP = 20


@dataclass(frozen=True, slots=True)
class UncheckedUnit:
    """A translation unit whose symbols and edges are missing from the graph, or another unread file."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class SymbolEntry:
    """A symbol in a list of the report, with the length of its definition in lines, and how many symbols use it."""

    id: int
    name: str
    file: str
    line: int
    lines: int
    users: int = 0


@dataclass(frozen=True, slots=True)
class ScanBody:
    """The content of a report on a graph.

    `symbols` counts symbols by category, `edges` edges by kind, `facts` functions by fact.  `lines` is the total length
    of functions.  A cycle is a step of the translation order with more than one symbol; `recursive` counts functions
    that call themselves.  `incomplete` counts symbols that no unit defines without errors. No unit could include the
    files in `files_not_read`; the warnings name these files too.
    """

    units: int = 0
    files: int = 0
    lines: int = 0
    steps: int = 0
    recursive: int = 0
    incomplete: int = 0
    symbols: Mapping[str, int] = field(default_factory=dict)
    edges: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, int] = field(default_factory=dict)
    roots: tuple[SymbolEntry, ...] = ()
    cycles: tuple[tuple[SymbolEntry, ...], ...] = ()
    largest: tuple[SymbolEntry, ...] = ()
    most_used: tuple[SymbolEntry, ...] = ()
    not_checked: tuple[UncheckedUnit, ...] = ()
    warnings: tuple[str, ...] = ()
    files_not_read: tuple[UncheckedUnit, ...] = ()


_ADAPTER = TypeAdapter(ScanBody)


def scan_body(
    graph: SymbolGraph,
    order: Sequence[OrderStep],
    roots: Iterable[int],
    *,
    units: int,
    not_checked: Sequence[UncheckedUnit] = (),
    warnings: Sequence[str] = (),
    files_not_read: Sequence[UncheckedUnit] = (),
) -> ScanBody:
    """Return the body; `units` counts all translation units, including those not checked."""
    functions = [symbol for symbol in graph.symbols if symbol.category == "function"]
    users = _users(graph.edges)
    by_size = nlargest(TOP, functions, key=lambda one: (lines_of(one), -one.id))
    by_use = nlargest(TOP, functions, key=lambda one: (users[one.id], -one.id))
    return ScanBody(
        units=units,
        files=len({symbol.extent.file for symbol in graph.symbols}),
        lines=sum(map(lines_of, functions)),
        steps=len(order),
        recursive=sum(edge.caller == edge.callee and edge.kind == "call" for edge in graph.edges),
        incomplete=sum(not symbol.complete for symbol in graph.symbols),
        symbols=_counts(symbol.category for symbol in graph.symbols),
        edges=_counts(edge.kind for edge in graph.edges),
        facts=_counts(fact for symbol in functions for fact in symbol.facts),
        roots=tuple(_entry(graph.by_id[number], users) for number in roots),
        cycles=tuple(
            tuple(_entry(graph.by_id[number], users) for number in step.ids) for step in order if len(step.ids) > 1
        ),
        largest=tuple(_entry(symbol, users) for symbol in by_size),
        most_used=tuple(_entry(symbol, users) for symbol in by_use if users[symbol.id]),
        not_checked=tuple(not_checked),
        warnings=(*warnings, *(f"{one.file} was not read: {one.reason}" for one in files_not_read)),
        files_not_read=tuple(files_not_read),
    )


def encode_body(body: ScanBody) -> bytes:
    """Return the body as JSON."""
    return _ADAPTER.dump_json(body)


def decode_body(text: bytes) -> ScanBody:
    """Return the body from its JSON. Raises ValueError for other text."""
    return _ADAPTER.validate_json(text)


def lines_of(symbol: Symbol) -> int:
    """Return the length of the definition in lines."""
    return symbol.extent.end_line - symbol.extent.line + 1


def _users(edges: Iterable[Edge]) -> Counter[int]:
    """Return the number of users of each symbol."""
    return Counter(callee for caller, callee in {edge[:2] for edge in edges} if caller != callee)


def _counts(names: Iterable[str]) -> dict[str, int]:
    """Count names, the most frequent first, then by name."""
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


def _entry(symbol: Symbol, users: Mapping[int, int]) -> SymbolEntry:
    extent = symbol.extent
    name = symbol.qualified_name or symbol.name
    return SymbolEntry(symbol.id, name, shown(extent.file), extent.line, lines_of(symbol), users.get(symbol.id, 0))
