"""Queries of a symbol graph: symbols that match a filter, and the users and references of a symbol."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import get_args

from jarvis_workers.c2rust.symbol import Symbol, SymbolGraph
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, shown
from jarvis_workers.source.clang.unit import Category, ReferenceKind

_KINDS: tuple[ReferenceKind, ...] = get_args(ReferenceKind)


@dataclass(frozen=True, slots=True)
class SymbolFilter:
    """Conditions on symbols; `name` and `file` are globs, and an empty glob matches everything."""

    category: Category | None = None
    name: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A symbol that uses, or is used by, another one."""

    symbol: Symbol
    kind: ReferenceKind


@dataclass(frozen=True, slots=True)
class SymbolDetails:
    """A symbol, the symbols that use it, those that it uses, and the external functions that it calls."""

    symbol: Symbol
    users: tuple[Neighbour, ...]
    uses: tuple[Neighbour, ...]
    external_calls: tuple[str, ...]


def select_symbols(graph: SymbolGraph, symbol_filter: SymbolFilter) -> Iterator[Symbol]:
    """Yield the symbols that match, in the order of the graph."""
    for symbol in graph.symbols:
        if (
            symbol_filter.category in (None, symbol.category)
            and (
                not symbol_filter.name
                or any(fnmatchcase(name, symbol_filter.name) for name in (symbol.name, symbol.qualified_name))
            )
            and (not symbol_filter.file or fnmatchcase(shown(symbol.extent.file), symbol_filter.file))
        ):
            yield symbol


def named_symbols(graph: SymbolGraph, name: str, category: Category | None = None) -> Sequence[Symbol]:
    """Return the symbols with this name, qualified name or id; raises UsageError with a suggestion if there is none."""
    candidates = [symbol for symbol in graph.symbols if category in (None, symbol.category)]
    found = [symbol for symbol in candidates if name in (symbol.name, symbol.qualified_name, str(symbol.id))]
    if not found:
        close = get_close_matches(name, {symbol.name for symbol in candidates}, n=1)
        hint = f' (did you mean "{plain(close[0])}"?)' if close else ""
        raise UsageError(f'no {category or "symbol"} is named "{plain(name)}"{hint}')
    return found


def describe_symbol(graph: SymbolGraph, symbol: Symbol) -> SymbolDetails:
    """Return the neighbours of a symbol, callers and callees first."""
    edges = sorted(graph.edges, key=lambda edge: _KINDS.index(edge.kind))
    users = [Neighbour(graph.by_id[edge.caller], edge.kind) for edge in edges if edge.callee == symbol.id]
    uses = [Neighbour(graph.by_id[edge.callee], edge.kind) for edge in edges if edge.caller == symbol.id]
    inside = {one.symbol.name for one in uses if one.kind == "call"}
    return SymbolDetails(symbol, tuple(users), tuple(uses), tuple(name for name in symbol.calls if name not in inside))
