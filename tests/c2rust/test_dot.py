"""Graphs in DOT, as graphviz itself reads them."""

import json
import shutil
import subprocess
from collections.abc import Mapping

import pytest

from jarvis_workers.c2rust.dot import dot_lines, subgraph_stem, subgraphs
from jarvis_workers.c2rust.graph import link_units
from jarvis_workers.c2rust.symbol import SymbolGraph
from tests.c2rust.projects import calls, symbol, unit
from tests.support.servers import missing

MAIN, HELPER, HOOK = symbol("main", line=1), symbol("helper", "b.c", 2), symbol("hook", "b.c", 3)
NODE = symbol("node", "b.h", 1, category="type")
REFERENCES = [
    *calls(MAIN, HELPER),
    *calls(HELPER, HELPER),
    *calls(HELPER, HOOK, kind="address"),
    *calls(HOOK, NODE, kind="type"),
]
GRAPH = link_units([unit("a.c", [MAIN, HELPER, HOOK, NODE], REFERENCES)])
HOSTILE = ['"]; evil [label="', "\\N \\", "a\nb\\n", "&lt;b&gt;", "<b>bold</b>", "\u202e\x1b[31m", "😀" * 300]


def parsed(text: str) -> Mapping[str, list[Mapping[str, str]]]:
    """Return nodes (and clusters) and edges as graphviz reads them."""
    program = shutil.which("dot") or missing("graphviz's dot")
    done = subprocess.run([program, "-Tdot_json"], input=text.encode(), capture_output=True, check=True, timeout=60)
    read = json.loads(done.stdout)
    return {"nodes": read.get("objects", []), "edges": read.get("edges", [])}


def test_functions_and_their_edges_are_written() -> None:
    assert "".join(dot_lines(GRAPH)) == (
        "digraph symbols {\n"
        "  rankdir=LR;\n"
        "  node [fontsize=10];\n"
        '  n1 [label="main", tooltip="a.c:1", shape=box];\n'
        '  n2 [label="helper", tooltip="b.c:2", shape=box];\n'
        '  n3 [label="hook", tooltip="b.c:3", shape=box];\n'
        "  n1 -> n2;\n"
        "  n2 -> n2;\n"
        "  n2 -> n3 [style=dashed];\n"
        "}\n"
    )


def test_types_are_written_on_request() -> None:
    text = "".join(dot_lines(GRAPH, ("function", "type")))

    assert '  n4 [label="node", tooltip="b.h:1", shape=ellipse];\n' in text
    assert "  n3 -> n4;\n" in text


def test_symbols_of_a_file_are_in_one_cluster() -> None:
    nodes = parsed("".join(dot_lines(GRAPH, clustered=True)))["nodes"]

    assert [one["label"] for one in nodes if "cluster" in one["name"]] == ["a.c", "b.c"]
    assert len(nodes) == 5


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_a_label(name: str) -> None:
    file = name.replace("/", "-")
    graph = link_units([unit(file, [symbol(name, file)])])
    read = parsed("".join(dot_lines(graph, clustered=True)))

    assert len(read["nodes"]) == 2
    assert read["edges"] == []
    assert [set(one) - {"_gvid", "name", "label", "tooltip", "shape", "nodes"} for one in read["nodes"]][1] <= {
        "fontsize"
    }


def test_a_subgraph_has_what_its_root_reaches() -> None:
    (below,) = subgraphs(GRAPH, [2])

    assert [one.name for one in below.symbols] == ["helper", "hook"]
    assert [(edge.caller, edge.callee) for edge in below.edges] == [(2, 2), (2, 3)]


def test_subgraphs_of_several_roots_are_those_of_each() -> None:
    assert list(subgraphs(GRAPH, [3, 1])) == [*subgraphs(GRAPH, [3]), *subgraphs(GRAPH, [1])]


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("ns::f", "subgraph_root_1_ns__f"),
        ("../../é x", "subgraph_root_1_________x"),
        ("a" * 200, "subgraph_root_1_" + "a" * 80),
    ],
)
def test_the_file_of_a_subgraph_has_a_safe_name(name: str, stem: str) -> None:
    graph: SymbolGraph = link_units([unit("a.c", [symbol(name)])])

    assert subgraph_stem(graph.symbols[0]) == stem
