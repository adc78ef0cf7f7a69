"""The JSON of a graph in its page says what the graph says."""

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.c2rust.report.page import CATEGORIES, EDGE_KINDS, graph_data
from jarvis_workers.c2rust.symbol import Edge, OrderStep, SymbolGraph
from tests.c2rust.graphs import graph_of, symbol

TRAPS = ("</script>", "<!--", "]]>", "\u202e", "&amp;")
NAMES = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(TRAPS)


@st.composite
def graphs(draw: st.DrawFn) -> SymbolGraph:
    """Return a graph whose ids have gaps, as after lines of symbols.jsonl were removed."""
    ids = sorted(draw(st.sets(st.integers(1, 40), min_size=1, max_size=12)))
    symbols = tuple(
        symbol(number, draw(NAMES), category=draw(st.sampled_from(CATEGORIES)), complete=draw(st.booleans()))
        for number in ids
    )
    ends = st.sampled_from(ids)
    edges = draw(st.sets(st.builds(Edge, ends, ends, st.sampled_from(EDGE_KINDS)), max_size=30))
    return SymbolGraph(symbols, tuple(sorted(edges)))


@pytest.mark.slow
@given(graphs())
def test_edges_and_symbols_are_those_of_the_graph(graph: SymbolGraph) -> None:
    data = json.loads(graph_data(graph, [], []))
    ids = [one.id for one in graph.symbols]
    callers = [ids[place] for place, degree in enumerate(data["degrees"]) for _ in range(degree)]
    edges = zip(callers, data["callees"], data["edgeKind"], strict=True)

    assert {(caller, ids[callee], EDGE_KINDS[int(kind)]) for caller, callee, kind in edges} == set(graph.edges)
    assert [CATEGORIES[int(digit)] for digit in data["category"]] == [one.category for one in graph.symbols]
    assert [ids[place] for place in data["incomplete"]] == [one.id for one in graph.symbols if not one.complete]


@given(graphs())
def test_no_name_ends_the_element_that_holds_the_data(graph: SymbolGraph) -> None:
    tags = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, _: tags.append(tag)  # type: ignore[method-assign]
    parser.feed(f'<script type="application/json">{graph_data(graph, [], [])}</script><p>')

    assert tags == ["script", "p"]


def test_roots_and_order_refer_to_places_in_the_columns() -> None:
    full = graph_of(["gone", "main", "even", "odd"])
    graph = SymbolGraph(full.symbols[1:])
    data = json.loads(graph_data(graph, [OrderStep((3, 4)), OrderStep((2,))], [2]))

    assert (data["order"], data["roots"]) == ([[1, 2], 0], [0])


def test_calls_outside_of_the_project_are_named_once() -> None:
    graph = graph_of(["main", "log"], main={"calls": ("log", "malloc")}, log={"calls": ("malloc", "free")})
    data = json.loads(graph_data(graph, [], []))

    assert data["outsideNames"] == ["malloc", "free"]
    assert data["outside"] == {"0": [0], "1": [0, 1]}
