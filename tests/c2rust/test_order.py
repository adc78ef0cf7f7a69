"""Roots and translation order, on graphs written down as names."""

from collections.abc import Mapping, Sequence

import pytest

from jarvis_workers.c2rust.components import strong_components
from jarvis_workers.c2rust.graph import link_units
from jarvis_workers.c2rust.order import order_by_depth, translation_order
from jarvis_workers.c2rust.roots import find_roots
from jarvis_workers.c2rust.symbol import OrderStep, SymbolGraph
from tests.c2rust.projects import calls, symbol, unit


def graph_of(called: Mapping[str, str], addresses: Sequence[tuple[str, str]] = ()) -> SymbolGraph:
    """Return the graph of functions in one file, a line each in the given order, with the names that each calls."""
    functions = {name: symbol(name, line=line) for line, name in enumerate(called, 1)}
    references = [
        ref for name, callees in called.items() for ref in calls(functions[name], *map(symbol, callees.split()))
    ]
    references += [ref for one, other in addresses for ref in calls(functions[one], functions[other], kind="address")]
    externals = [(symbol(name).key, name) for callees in called.values() for name in callees.split()]
    return link_units([unit("a.c", functions.values(), references, externals=externals)])


def named(graph: SymbolGraph, steps: Sequence[OrderStep]) -> list[str]:
    return ["+".join(graph.by_id[number].name for number in step.ids) for step in steps]


def test_roots_are_what_no_other_function_calls() -> None:
    graph = graph_of(
        {"main": "f compare", "f": "f g", "g": "", "compare": "", "again": "again", "callback": ""}, [("f", "callback")]
    )

    assert [graph.by_id[number].name for number in find_roots(graph)] == ["main", "again", "callback"]


def test_without_a_root_all_functions_are_roots() -> None:
    assert find_roots(graph_of({"f": "g", "g": "f"})) == (1, 2)
    assert find_roots(SymbolGraph()) == ()


def test_callees_come_first_and_a_cycle_is_one_step() -> None:
    graph = graph_of({"main": "even", "even": "odd", "odd": "even log", "log": "puts", "alone": ""})

    assert named(graph, translation_order(graph)) == ["log", "even+odd", "alone", "main"]


def test_independent_steps_are_in_the_order_of_files_and_lines() -> None:
    units = [
        unit(file, [symbol(name, file, line)])
        for name, file, line in (("x", "b.c", 1), ("y", "a.c", 9), ("z", "a.c", 2))
    ]
    graph = link_units(units)

    assert named(graph, translation_order(graph)) == ["z", "y", "x"]


def test_types_come_before_functions_and_members_before_their_structs() -> None:
    function = symbol("f", line=1)
    outer, inner = symbol("outer", line=2, category="type"), symbol("inner", line=3, category="type")
    references = [*calls(function, outer, kind="type"), *calls(outer, inner, kind="type")]
    graph = link_units([unit("a.c", [function, outer, inner, symbol("MAX", category="macro")], references)])

    assert named(graph, translation_order(graph)) == ["inner", "outer", "f"]


@pytest.mark.parametrize(
    ("delayed", "order"),
    [
        ((), ["zip", "unzip", "main"]),
        (("unzip",), ["zip", "main", "unzip"]),
        (("zip", "unknown"), ["unzip", "main", "zip"]),
    ],
)
def test_entries_are_delayed_beside_main(delayed: Sequence[str], order: list[str]) -> None:
    graph = graph_of({"main": "", "zip": "", "unzip": ""})

    assert named(graph, translation_order(graph, delayed)) == order
    assert named(graph, order_by_depth(graph, delayed)) == order


def test_callers_of_a_delayed_entry_wait_with_it() -> None:
    graph = graph_of({"start": "", "restart": "start", "last": ""})

    assert named(graph, translation_order(graph, ("start",))) == ["last", "start", "restart"]


def test_without_edges_the_depth_of_calls_decides_then_the_file() -> None:
    linked = graph_of({"main": "a b", "a": "b", "b": "", "c": "c missing"})
    graph = SymbolGraph(linked.symbols)

    assert named(graph, order_by_depth(graph)) == ["b", "c", "a", "main"]


@pytest.mark.slow
def test_deep_recursion_of_calls_needs_no_stack() -> None:
    depth = 50_000
    chain = {node: (node + 1,) for node in range(depth)} | {depth: ()}

    assert strong_components(chain, chain) == [(node,) for node in range(depth, -1, -1)]
    assert strong_components(chain, chain | {depth: (0,)}) == [tuple(range(depth + 1))]
