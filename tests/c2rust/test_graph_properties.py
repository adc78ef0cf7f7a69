"""Properties of linking and ordering, over made-up projects."""

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.c2rust.graph import link_units
from jarvis_workers.c2rust.order import order_by_depth, translation_order
from jarvis_workers.c2rust.symbol import OrderStep, SymbolGraph
from jarvis_workers.source.clang.unit import Category, Reference, ReferenceKind, Unit
from tests.c2rust.projects import symbol, unit

FILES = ("a.c", "b.c", "a.h")
NAMES = ("main", "f", "g", "h", "F")
CATEGORIES: tuple[Category, ...] = ("function", "type", "global")
KINDS: tuple[ReferenceKind, ...] = ("call", "address", "type", "global")

SYMBOLS = st.builds(
    symbol,
    st.sampled_from(NAMES),
    st.sampled_from(FILES),
    st.integers(1, 3),
    category=st.sampled_from(CATEGORIES),
    defined=st.booleans(),
    facts=st.sampled_from([(), ("weak",)]),
)
KEYS = SYMBOLS.map(lambda one: one.key)
REFERENCES = st.builds(Reference, KEYS, KEYS, st.sampled_from(KINDS))
UNITS = st.builds(
    unit,
    st.sampled_from(FILES),
    st.lists(SYMBOLS, max_size=6),
    st.lists(REFERENCES, max_size=8),
    error=st.sampled_from(["", "no such file"]),
)
PROJECTS = st.lists(UNITS, max_size=5)


def positions(steps: Sequence[OrderStep]) -> dict[int, int]:
    return {number: position for position, step in enumerate(steps) for number in step.ids}


@given(PROJECTS, st.randoms(use_true_random=False))
def test_the_graph_does_not_depend_on_the_order_of_units(units: list[Unit], shuffle: random.Random) -> None:
    shuffled = [*units]
    shuffle.shuffle(shuffled)

    assert link_units(shuffled) == link_units(units)


@given(PROJECTS)
def test_ids_count_in_the_order_of_files_and_edges_join_symbols(units: list[Unit]) -> None:
    graph = link_units(units)

    assert [one.id for one in graph.symbols] == list(range(1, len(graph.symbols) + 1))
    assert list(graph.symbols) == sorted(graph.symbols, key=lambda one: (one.extent[:3], one.id))
    assert len({one.key for one in graph.symbols}) == len(graph.symbols)
    assert {number for edge in graph.edges for number in edge[:2]} <= graph.by_id.keys()


@given(PROJECTS, st.sets(st.sampled_from(NAMES)))
def test_the_order_is_a_permutation_with_callees_before_callers(units: list[Unit], delayed: set[str]) -> None:
    graph = link_units(units)
    at = positions(translation_order(graph, delayed))
    kinds = {"function": "call", "type": "type"}

    ordered(graph, translation_order(graph, delayed))
    for edge in graph.edges:
        caller, callee = graph.by_id[edge.caller], graph.by_id[edge.callee]
        if caller.category == callee.category and kinds.get(caller.category) == edge.kind:
            assert at[edge.callee] <= at[edge.caller]


@given(PROJECTS)
def test_the_order_by_depth_is_a_permutation(units: list[Unit]) -> None:
    graph = link_units(units)

    ordered(graph, order_by_depth(SymbolGraph(graph.symbols)))


def ordered(graph: SymbolGraph, steps: Sequence[OrderStep]) -> None:
    """Assert that each type and function stands in the order once, the types first."""
    ids = [number for step in steps for number in step.ids]
    categories = [graph.by_id[number].category for number in ids]

    assert sorted(ids) == [one.id for one in graph.symbols if one.category in ("function", "type")]
    assert categories == sorted(categories, reverse=True)
