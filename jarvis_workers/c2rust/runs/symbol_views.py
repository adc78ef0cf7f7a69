"""Symbols, their neighbours and the translation order as plain values, for commands and programs."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from jarvis_workers.c2rust.queries import (
    Neighbour,
    SymbolDetails,
    SymbolFilter,
    describe_symbol,
    named_symbols,
    select_symbols,
)
from jarvis_workers.c2rust.roots import find_roots
from jarvis_workers.c2rust.runs.project_files import ProjectSymbols
from jarvis_workers.c2rust.symbol import Symbol, SymbolGraph
from jarvis_workers.c2rust.symbol_lines import reference_ids, symbol_fields
from jarvis_workers.paths import shown
from jarvis_workers.source.clang.unit import Category


class StepView(NamedTuple):
    """A step of the order: its number from 1, and its symbols."""

    number: int
    symbols: tuple[Symbol, ...]


def symbol_filter(category: str | None, name: str, file: str) -> SymbolFilter:
    """Return the filter for these options; `category` must be a symbol category."""
    return SymbolFilter(cast(Category | None, category), name, file)


def list_symbols(graph: SymbolGraph, symbol_filter: SymbolFilter, *, roots: bool = False) -> list[Symbol]:
    """Return the matching symbols; with `roots`, only those that no other function calls."""
    inside = {*find_roots(graph)} if roots else graph.by_id.keys()
    return [symbol for symbol in select_symbols(graph, symbol_filter) if symbol.id in inside]


def details_of(graph: SymbolGraph, name: str) -> list[SymbolDetails]:
    """Return the symbols with a name or id, with their neighbours; raises UsageError if there is none."""
    return [describe_symbol(graph, symbol) for symbol in named_symbols(graph, name)]


def steps_of(project: ProjectSymbols) -> Iterator[StepView]:
    for number, step in enumerate(project.order.steps, 1):
        yield StepView(number, tuple(project.graph.by_id[one] for one in step.ids))


def place_of(symbol: Symbol) -> str:
    return f"{shown(symbol.extent.file)}:{symbol.extent.line}"


def as_rows(graph: SymbolGraph, symbols: list[Symbol]) -> list[Mapping[str, Any]]:
    """Return the fields of symbols as in symbols.jsonl."""
    references = reference_ids(graph)
    return [symbol_fields(symbol, references[symbol.id]) for symbol in symbols]


def details_row(details: SymbolDetails, graph: SymbolGraph) -> Mapping[str, Any]:
    (fields,) = as_rows(graph, [details.symbol])
    return {
        **fields,
        "users": [_neighbour_row(one) for one in details.users],
        "uses": [_neighbour_row(one) for one in details.uses],
        "external_calls": list(details.external_calls),
    }


def step_row(step: StepView) -> Mapping[str, Any]:
    items = [_item(symbol) for symbol in step.symbols]
    return {"step": step.number, "ids": [symbol.id for symbol in step.symbols], "items": items}


def _neighbour_row(neighbour: Neighbour) -> Mapping[str, Any]:
    return {**_item(neighbour.symbol), "reference": neighbour.kind}


def _item(symbol: Symbol) -> Mapping[str, Any]:
    return {
        "id": symbol.id,
        "category": symbol.category,
        "name": symbol.qualified_name,
        "file": shown(symbol.extent.file),
        "start_line": symbol.extent.line,
    }
