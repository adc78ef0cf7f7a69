"""Linking units: what is one symbol, what stays apart, and where references go."""

import pytest

from jarvis_workers.c2rust.graph import link_units
from jarvis_workers.c2rust.symbol import SymbolGraph
from tests.c2rust.projects import calls, declared, static, symbol, unit


def places(graph: SymbolGraph, name: str) -> list[str]:
    return [one.extent.file.decode() for one in graph.symbols if one.name == name]


def uses(graph: SymbolGraph) -> set[tuple[str, str, str]]:
    """Return the edges as file:name of both ends, and their kind."""
    ends = {one.id: f"{one.extent.file.decode()}:{one.name}" for one in graph.symbols}
    return {(ends[edge.caller], ends[edge.callee], edge.kind) for edge in graph.edges}


def test_a_call_is_matched_to_the_definition_in_another_unit() -> None:
    main, helper = symbol("main"), symbol("helper", "b.c")
    graph = link_units([unit("a.c", [main, declared(helper)], calls(main, helper)), unit("b.c", [helper])])

    assert [(one.id, one.name, one.calls) for one in graph.symbols] == [(1, "main", ("helper",)), (2, "helper", ())]
    assert uses(graph) == {("a.c:main", "b.c:helper", "call")}


def test_a_function_that_no_unit_defines_is_a_name_among_the_calls_only() -> None:
    main, puts, variable = symbol("main"), symbol("puts"), symbol("errors", category="global", defined=False)
    first = unit("a.c", [main, variable], calls(main, puts), externals=[(puts.key, "puts")])
    second = unit("b.c", [declared(puts)])
    graph = link_units([first, second])

    assert [(one.name, one.calls) for one in graph.symbols] == [("main", ("puts",))]
    assert graph.edges == ()


def test_a_type_is_complete_if_one_unit_completes_it() -> None:
    main, state = symbol("main"), symbol("state", "state.h", 4, category="type")
    first = unit("a.c", [main, declared(state, "api.h")], calls(main, state, kind="type"))
    graph = link_units([first, unit("b.c", [state])])

    assert places(graph, "state") == ["state.h"]
    assert uses(graph) == {("a.c:main", "state.h:state", "type")}
    assert all(one.complete for one in graph.symbols)


def test_a_type_that_no_unit_completes_remains_by_its_first_declaration() -> None:
    main, opaque = symbol("main"), symbol("opaque", category="type", defined=False)
    units = [
        unit("a.c", [main, declared(opaque, "z.h")], calls(main, opaque, kind="type")),
        unit("b.c", [declared(opaque, "b.h")]),
    ]
    graph = link_units(units)

    assert [(one.name, one.complete) for one in graph.symbols] == [("main", True), ("opaque", False)]
    assert uses(graph) == {("a.c:main", "b.h:opaque", "type")}


def test_two_types_of_one_name_are_told_apart_by_file() -> None:
    first, second = symbol("f"), symbol("g", "b.c")
    one, other = symbol("node", "a.c", 3, category="type"), symbol("node", "b.c", 3, category="type")
    units = [
        unit("a.c", [first, one], calls(first, one, kind="type")),
        unit("b.c", [second, other], calls(second, other, kind="type")),
    ]
    graph = link_units(units)

    assert [item.key for item in graph.symbols if item.name == "node"] == ["a.c#c:@t@node", "b.c#c:@t@node"]
    assert uses(graph) == {("a.c:f", "a.c:node", "type"), ("b.c:g", "b.c:node", "type")}


def test_statics_of_one_name_stay_apart() -> None:
    one, other = static("fail", "a.c", 2), static("fail", "b.c", 2)
    first, second = symbol("f"), symbol("g", "b.c")
    units = [unit("a.c", [first, one], calls(first, one)), unit("b.c", [second, other], calls(second, other))]

    assert uses(link_units(units)) == {("a.c:f", "a.c:fail", "call"), ("b.c:g", "b.c:fail", "call")}


@pytest.mark.parametrize("weak_file", ["a.c", "z.c"])
def test_a_call_goes_to_the_strong_definition(weak_file: str) -> None:
    caller = symbol("main", weak_file)
    weak, strong = symbol("log", weak_file, 5, facts=("weak",)), symbol("log", "m.c")
    graph = link_units([unit(weak_file, [caller, weak], calls(caller, weak)), unit("m.c", [strong])])

    assert sorted(places(graph, "log")) == sorted([weak_file, "m.c"])
    assert uses(graph) == {(f"{weak_file}:main", "m.c:log", "call")}


def test_duplicates_are_kept_by_file_and_a_unit_calls_its_own() -> None:
    programs = [(symbol("main", file), symbol("usage", file, 9)) for file in ("a.c", "b.c")]
    other = symbol("other", "c.c")
    units = [unit(main.extent.file.decode(), [main, usage], calls(main, usage)) for main, usage in programs]
    graph = link_units([*units, unit("c.c", [other], calls(other, programs[1][1]))])

    assert uses(graph) == {
        ("a.c:main", "a.c:usage", "call"),
        ("b.c:main", "b.c:usage", "call"),
        ("c.c:other", "a.c:usage", "call"),
    }


def test_a_static_inline_function_of_a_header_is_one_symbol() -> None:
    inline = static("clamp", "a.h")
    main, other = symbol("main"), symbol("other", "b.c")
    units = [unit("b.c", [inline, other], calls(other, inline)), unit("a.c", [inline, main], calls(main, inline))]
    graph = link_units(units)

    assert places(graph, "clamp") == ["a.h"]
    assert [one.arguments_hash for one in graph.symbols if one.name == "clamp"] == ["arguments of a.c"]
    assert len(graph.edges) == 2


def test_what_a_unit_without_errors_has_read_is_preferred() -> None:
    inline, broken = static("clamp", "a.h"), symbol("main")
    graph = link_units([unit("a.c", [inline, broken], error="no such file"), unit("b.c", [inline])])

    assert [(one.name, one.complete) for one in graph.symbols] == [("main", False), ("clamp", True)]


def test_a_file_that_defines_a_function_under_different_conditions_has_one_symbol_that_says_so() -> None:
    units = [unit("a.c", [symbol("f", line=2)]), unit("b.c", [symbol("f", "a.c", line=8)])]
    graph = link_units(units)

    assert [(one.extent.line, one.facts) for one in graph.symbols] == [(2, ("several_definitions",))]


def test_a_called_function_has_no_second_edge_for_its_address() -> None:
    main, helper = symbol("main"), symbol("helper", line=2)
    references = [*calls(main, helper), *calls(main, helper, kind="address")]

    assert uses(link_units([unit("a.c", [main, helper], references)])) == {("a.c:main", "a.c:helper", "call")}
