"""The files of symbols and of the order: what is written, and what is made of edited and older ones."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.c2rust.graph import link_units
from jarvis_workers.c2rust.order import translation_order
from jarvis_workers.c2rust.symbol import Edge, OrderStep, Symbol, SymbolGraph
from jarvis_workers.c2rust.symbol_lines import name_lines, order_lines, symbol_lines
from jarvis_workers.c2rust.symbol_reader import SymbolFile, read_order, read_symbols
from jarvis_workers.errors import UsageError
from jarvis_workers.source.clang.unit import CParameter, Extent
from tests.c2rust.projects import calls, symbol, unit

# contract of the seeds: "A symbol's line"
FIELDS = (
    *("id", "key", "category", "kind", "name", "qualified_name", "signature", "return_type", "params", "ref", "calls"),
    *("language", "file", "start_line", "start_col", "end_line", "end_col", "compile_args_hash"),
)
OURS = ("source_hash", "facts", "complete")

CALLER, CALLEE, TYPE = symbol("f", line=1), symbol("g", line=2), symbol("node", line=3, category="type")
GRAPH = link_units([unit("a.c", [CALLER, CALLEE, TYPE], [*calls(CALLER, CALLEE), *calls(CALLEE, TYPE, kind="type")])])


def read(*lines: dict[str, object] | str, root: bytes = b"") -> SymbolFile:
    return read_symbols([one if isinstance(one, str) else json.dumps(one) for one in lines], "symbols.jsonl", root)


def edges(file: SymbolFile) -> list[tuple[str, str, str]]:
    name = {one.id: one.name for one in file.graph.symbols}
    return [(name[edge.caller], name[edge.callee], edge.kind) for edge in file.graph.edges]


def test_a_line_has_the_fields_of_the_seeds_in_their_order() -> None:
    lines = [json.loads(line) for line in symbol_lines(GRAPH)]

    assert [list(line) for line in lines] == [[*FIELDS, *OURS]] * 3
    assert [(line["name"], line["ref"], line["calls"]) for line in lines] == [
        ("f", [2], ["g"]),
        ("g", [3], []),
        ("node", [], []),
    ]


def test_a_step_has_the_ids_and_the_items_of_its_symbols() -> None:
    lines = [json.loads(line) for line in order_lines(GRAPH, [OrderStep((3,)), OrderStep((1, 2))])]

    assert [list(line) for line in lines] == [["ids", "items"]] * 2
    assert [line["ids"] for line in lines] == [[3], [1, 2]]
    assert [item["name"] for item in lines[1]["items"]] == ["f", "g"]
    assert list(lines[0]["items"][0]) == [*FIELDS, *OURS]


def test_a_name_of_a_root_stands_once() -> None:
    assert list(name_lines(["main", "f", "main"])) == ["main\n", "f\n"]


TEXTS = st.text(max_size=8)
PATHS = st.binary(min_size=1, max_size=8).map(lambda raw: b"d/" + raw.replace(b"/", b"-").replace(b"\0", b"-") + b".c")
SYMBOLS = st.builds(
    Symbol,
    id=st.just(0),
    key=TEXTS.map("c:@F@".__add__),
    category=st.sampled_from(["function", "type", "global", "macro"]),
    kind=st.just("struct"),
    name=st.text(min_size=1, max_size=8),
    qualified_name=st.text(min_size=1, max_size=8),
    extent=st.builds(Extent, PATHS, *[st.integers(0, 10**6)] * 4),
    language=st.sampled_from(["c", "c++"]),
    signature=TEXTS,
    parameters=st.lists(st.builds(CParameter, TEXTS, TEXTS), max_size=2).map(tuple),
    facts=st.lists(TEXTS, max_size=2).map(tuple),
    complete=st.booleans(),
    arguments_hash=TEXTS,
)


@st.composite
def graphs(draw: st.DrawFn) -> SymbolGraph:
    drawn = draw(st.lists(SYMBOLS, max_size=4))
    symbols = [replace(one, id=at) for at, one in enumerate(drawn, 1)]
    kinds = {"function": "address", "type": "type", "global": "global", "macro": "macro"}
    pairs = (
        draw(st.sets(st.tuples(st.sampled_from(symbols), st.sampled_from(symbols)), max_size=6)) if symbols else set()
    )
    found = {Edge(one.id, other.id, kinds[other.category]) for one, other in pairs}  # type: ignore[arg-type]
    return SymbolGraph(tuple(symbols), tuple(sorted(found)))


@given(graphs())
def test_what_is_written_is_read_back(graph: SymbolGraph) -> None:
    lines = list(symbol_lines(graph))
    file = read_symbols(lines, "symbols.jsonl")

    assert (file.graph, file.warnings) == (graph, ())
    assert all(line.encode().decode() == line and line.count("\n") == 1 for line in lines)
    assert read_order(order_lines(graph, translation_order(graph)), file).steps == tuple(translation_order(graph))


def test_calls_and_addresses_are_told_apart_by_the_names_of_calls() -> None:
    file = read({"id": 1, "name": "f", "ref": [2, 3], "calls": ["g"]}, {"id": 2, "name": "g"}, {"id": 3, "name": "h"})

    assert edges(file) == [("f", "g", "call"), ("f", "h", "address")]


def test_a_line_of_the_original_is_read() -> None:
    old = {
        "underlying_type": "",
        "created_at": "2025-01-01T00:00:00",
        "updated_at": "2025-01-01T00:00:00",
        "language": "cpp",
    }
    function = {
        "id": 7,
        "category": "function",
        "name": "push",
        "qualified_name": "ns::push",
        "ref": ["grow", "ns::Stack", "memcpy"],
    }
    place = {"file": "/src/lib/stack.cpp", "start_line": 3, "start_col": 1, "end_line": 9, "end_col": 2}
    file = read(
        {**old, **function, **place, "params": [{"name": "n", "type": "int"}], "kind": None},
        {**old, "id": 8, "category": "type", "name": "Stack", "qualified_name": "ns::Stack", "kind": "class"},
        {**old, "id": 9, "name": "grow"},
        root=b"/src",
    )

    assert edges(file) == [("push", "Stack", "type"), ("push", "grow", "call")]
    assert file.graph.symbols[0].extent == (b"lib/stack.cpp", 3, 1, 9, 2)
    assert file.graph.symbols[0].language == "c++"
    assert file.warnings == ("symbols.jsonl: references to symbols that are not in the file are ignored: memcpy",)


def test_without_references_calls_are_matched_by_name_and_ordered_by_depth() -> None:
    lines = [{"id": 1, "name": "f", "calls": ["g"], "file": "a.c"}, {"id": 2, "name": "g", "file": "b.c"}]
    file = read(*lines, {"id": 3, "name": "g", "file": "a.c"})

    assert [(edge.caller, edge.callee) for edge in file.graph.edges] == [(1, 3)]
    assert not file.has_references
    assert file.warnings == (
        'symbols.jsonl: no symbol has the field "ref": calls are matched by name, and ordered by depth',
    )
    assert read_order(None, file).steps == (OrderStep((3,)), OrderStep((2,)), OrderStep((1,)))


def test_unknown_fields_and_removed_symbols_are_named() -> None:
    kept = [line for line in symbol_lines(GRAPH) if '"g"' not in line.partition("signature")[0]]
    file = read(*kept[1:], {"id": 1, "name": "f", "ref": [2], "calls": ["g"], "note": "mine", "zeal": 1})

    assert [one.name for one in file.graph.symbols] == ["f", "node"]
    assert file.graph.edges == ()
    assert file.warnings == (
        "symbols.jsonl: unknown fields are ignored: note, zeal",
        "symbols.jsonl: references to symbols that are not in the file are ignored: 2",
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[1]", "not a JSON object"),
        ('{"name": "f"}', "id: Field required"),
        ('{"id": 2}', "name: Field required"),
        ('{"id": 1, "name": "f"}', "id 1 is already used on line 1"),
        ('{"id": 2, "name": "f", "category": "class"}', "category: "),
        ('{"id": 2, "name": "f", "start_line": -4}', "start_line: "),
        (
            '{"id": 2, "name": "f", "file": "../../etc/passwd"}',
            "file: '../../etc/passwd' is not below the project root",
        ),
    ],
)
def test_a_broken_line_is_one_error_with_its_number(line: str, message: str) -> None:
    with pytest.raises(UsageError, match=rf"^symbols\.jsonl:3: {re.escape(message)}"):
        read({"id": 1, "name": "main"}, "", line)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (None, "is missing"),
        (["", "\n"], "is empty"),
        (['{"step": 1, "ids": [1, 2], "group": true, "roots": [1]}'], 'has an older format, without "items" (line 1)'),
        (['{"ids": [1, 2, 9], "items": []}'], "contains ids of unknown symbols, such as 9"),
        (['{"ids": [1, 2], "items": []}', '{"ids": [2], "items": []}'], "contains id 2 more than once"),
        (['{"ids": [1], "items": []}'], "lacks functions, such as g (id 2)"),
        (['{"ids": [1], "items": []}', "{"], "has an invalid step on line 2"),
        (['{"ids": [], "items": []}'], "has an invalid step on line 1"),
    ],
)
def test_an_order_that_cannot_be_used_is_computed_anew(lines: list[str] | None, reason: str) -> None:
    order = read_order(lines, SymbolFile(GRAPH))

    assert order == ((OrderStep((3,)), OrderStep((2,)), OrderStep((1,))), reason)


def test_an_order_that_a_person_changed_is_used_as_it_is() -> None:
    order = read_order(['{"ids": [1], "items": [], "note": "mine"}', '{"ids": [2], "items": []}'], SymbolFile(GRAPH))

    assert order == ((OrderStep((1,)), OrderStep((2,))), "")
