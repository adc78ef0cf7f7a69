"""`jarvis c2rust symbols`, `graph` and `order`, on the files of a small project."""

import json
from pathlib import Path

import pytest

from jarvis_workers.c2rust.graph import link_units
from jarvis_workers.c2rust.order import translation_order
from jarvis_workers.c2rust.report.body import UncheckedUnit, encode_body, scan_body
from jarvis_workers.c2rust.runs.pictures import dot_program
from jarvis_workers.c2rust.runs.project_files import directory_of, write_project
from jarvis_workers.c2rust.runs.scan_report import REPORT_FILE
from tests.c2rust.projects import calls, symbol, unit
from tests.cli.commands import Jarvis
from tests.support.servers import missing

MAIN, PACK, BITS = symbol("main", "main.c", 3), symbol("pack", "lib/pack.c", 7), symbol("put_bits", "lib/bits.c", 2)
STATE = symbol("state", "lib/pack.h", 5, category="type")
REFERENCES = [*calls(MAIN, PACK, symbol("printf")), *calls(PACK, BITS), *calls(PACK, STATE, kind="type")]
EXTERNALS = [(symbol("printf").key, "printf")]
GRAPH = link_units([unit("main.c", [MAIN, PACK, BITS, STATE], REFERENCES, externals=EXTERNALS)])


@pytest.fixture
def project(jarvis: Jarvis) -> Path:
    write_project(jarvis.place, GRAPH, translation_order(GRAPH))
    return jarvis.place


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), ["put_bits", "pack", "state", "main"]),
        (("--category", "type"), ["state"]),
        (("--name", "p*"), ["put_bits", "pack"]),
        (("--file", "lib/*.c", "--name", "*t*"), ["put_bits"]),
        (("--roots",), ["main"]),
    ],
)
def test_symbols_are_listed_and_filtered(
    jarvis: Jarvis, project: Path, options: tuple[str, ...], names: list[str]
) -> None:
    done = jarvis("c2rust", "symbols", *options)

    assert done.code == 0
    assert [line.split()[2] for line in done.out.splitlines()] == names
    assert done.err == f"{len(names)} of 4 symbols\n"
    assert [row["name"] for row in json.loads(jarvis("c2rust", "symbols", "--json", *options).out)] == names


def test_a_symbol_is_shown_with_callers_and_callees(jarvis: Jarvis, project: Path) -> None:
    assert jarvis("c2rust", "symbols", "pack").out == (
        "pack  lib/pack.c:7  (function, id 2)\n"
        "  void pack(void)\n"
        "  used by:\n"
        "    call     main  main.c:3\n"
        "  uses:\n"
        "    call     put_bits  lib/bits.c:2\n"
        "    type     state  lib/pack.h:5\n"
    )
    assert "  calls outside the project: printf\n" in jarvis("c2rust", "symbols", "main").out
    (row,) = json.loads(jarvis("c2rust", "symbols", "pack", "--json").out)
    assert [one["name"] for one in row["users"]] == ["main"]
    assert [(one["name"], one["reference"]) for one in row["uses"]] == [("put_bits", "call"), ("state", "type")]


def test_a_hostile_name_reaches_no_terminal(jarvis: Jarvis) -> None:
    graph = link_units([unit("\x1b[2J.c", [symbol("f\x1b[31m\u202e", "\x1b[2J.c")])])
    write_project(jarvis.place, graph, translation_order(graph))
    outputs = [jarvis("c2rust", *words).out for words in (["symbols"], ["symbols", "1"], ["order"], ["graph"])]

    assert [text for text in outputs if "\x1b" in text or "\u202e" in text] == []
    assert all(r"f\x1b[31m\u202e" in text.replace("\\\\", "\\") for text in outputs)


def test_an_unknown_symbol_is_refused_with_a_suggestion(jarvis: Jarvis, project: Path) -> None:
    done = jarvis("c2rust", "symbols", "put_bit")

    assert (done.code, done.line) == (2, 'jarvis: no symbol is named "put_bit" (did you mean "put_bits"?)')
    assert jarvis("c2rust", "symbols", "--category", "macr").line.endswith('(did you mean "macro"?)')


def test_the_order_is_printed_callees_first(jarvis: Jarvis, project: Path) -> None:
    lines = jarvis("c2rust", "order").out.splitlines()

    assert [line.split()[1] for line in lines] == ["state", "put_bits", "pack", "main"]
    assert [row["ids"] for row in json.loads(jarvis("c2rust", "order", "--json").out)] == [[3], [1], [2], [4]]


def test_the_order_is_computed_anew_with_delayed_entries(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = link_units([unit("a.c", [symbol("start", line=1), symbol("main", line=2), symbol("f", line=3)])])
    write_project(jarvis.place, graph, translation_order(graph))
    monkeypatch.setenv("C2RUST_DELAY_ENTRIES", "start")
    before = jarvis("c2rust", "order").out
    done = jarvis("c2rust", "order", "--write", "-p", jarvis.place)

    assert [line.split()[1] for line in before.splitlines()] == ["start", "f", "main"]
    assert [line.split()[1] for line in done.out.splitlines()] == ["f", "start", "main"]
    assert done.line.endswith("translation_order.jsonl")
    assert jarvis("c2rust", "order").out == done.out


def test_an_order_that_names_what_is_not_there_is_told_and_computed_anew(jarvis: Jarvis, project: Path) -> None:
    (directory_of(project) / "translation_order.jsonl").write_text('{"ids": [77], "items": []}\n')
    done = jarvis("c2rust", "order")

    assert done.code == 0
    assert done.line.endswith("contains ids of unknown symbols, such as 77: the order was recomputed")
    assert len(done.out.splitlines()) == 4


def test_a_broken_line_of_symbols_is_one_error(jarvis: Jarvis, project: Path) -> None:
    path = directory_of(project) / "symbols.jsonl"
    path.write_text(path.read_text() + '{"id": 9\n')
    done = jarvis("c2rust", "symbols")

    assert (done.code, done.out) == (2, "")
    assert "symbols.jsonl:5: not valid JSON: " in done.line


def test_without_a_scan_the_command_to_run_is_named(jarvis: Jarvis) -> None:
    done = jarvis("c2rust", "graph", "-p", "nowhere")

    assert (done.code, done.out) == (2, "")
    assert done.line.endswith("scan the project first: jarvis c2rust scan -p nowhere")


def test_a_graph_is_printed_as_dot(jarvis: Jarvis, project: Path) -> None:
    done = jarvis("c2rust", "graph")

    assert done.out.startswith("digraph symbols {\n")
    assert "  n4 -> n2;\n" in done.out
    assert done.err == ""
    assert "n4" not in jarvis("c2rust", "graph", "--root", "pack").out
    assert "cluster_1" in jarvis("c2rust", "graph", "--clustered").out
    assert "ellipse" in jarvis("c2rust", "graph", "--types").out


@pytest.mark.parametrize(("name", "start"), [("graph.dot", "digraph"), ("graph.html", "<!doctype html>")])
def test_the_suffix_of_a_graph_decides_its_format(jarvis: Jarvis, project: Path, name: str, start: str) -> None:
    done = jarvis("c2rust", "graph", "-o", name)

    assert (done.code, done.out, done.line) == (0, "", f"graph: {name}")
    assert (project / name).read_text().lower().startswith(start)


def test_the_language_of_a_page_is_that_of_the_command(
    jarvis: Jarvis, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    for options, lang in (((), "zh-CN"), (("--lang", "en"), "en")):
        jarvis("c2rust", "graph", "-o", "graph.html", *options)
        assert f'<html lang="{lang}">' in (project / "graph.html").read_text()


@pytest.mark.parametrize(("name", "start"), [("graph.png", b"\x89PNG"), ("graph.svg", b"<?xml")])
def test_a_picture_is_drawn_by_graphviz(jarvis: Jarvis, project: Path, name: str, start: bytes) -> None:
    if dot_program() is None:
        missing("graphviz's dot")
    done = jarvis("c2rust", "graph", "--root", "main", "-o", name)

    assert (done.code, done.line) == (0, f"graph: {name}")
    assert (project / name).read_bytes().startswith(start)
    assert sorted(path.name for path in project.iterdir()) == [".jarvis", name]


def test_a_picture_of_too_many_symbols_is_refused_with_what_to_do(jarvis: Jarvis) -> None:
    if dot_program() is None:
        missing("graphviz's dot")
    graph = link_units([unit("a.c", [symbol(f"f{line}", line=line) for line in range(1, 302)])])
    write_project(jarvis.place, graph, translation_order(graph))
    done = jarvis("c2rust", "graph", "-o", "graph.svg")

    assert done.code == 2
    assert "301 symbols are too many for a picture (maximum 300): narrow the graph with --root" in done.line


def test_a_picture_without_graphviz_is_refused(
    jarvis: Jarvis, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = jarvis("c2rust", "graph", "-o", "graph.svg")

    assert done.code == 2
    assert "graphviz is not installed" in done.line


def test_a_graph_in_an_unknown_format_is_refused(jarvis: Jarvis, project: Path) -> None:
    done = jarvis("c2rust", "graph", "-o", "graph.jpeg")

    assert done.code == 2
    assert done.line.startswith('jarvis: unknown graph format ".jpeg"; use one of .dot, ')
    assert not (project / "graph.jpeg").exists()


def test_the_subgraph_of_each_root_is_written(jarvis: Jarvis, project: Path) -> None:
    done = jarvis("c2rust", "graph", "--subgraphs-dir", "sub/graphs")

    assert (done.code, done.out, done.line) == (0, "", "1 sub-graphs in sub/graphs")
    assert [path.name for path in (project / "sub/graphs").iterdir()] == ["subgraph_root_4_main.dot"]


@pytest.mark.parametrize("command", ["symbols", "graph", "order"])
def test_help_shows_examples(jarvis: Jarvis, command: str) -> None:
    assert f"Examples:\n    jarvis c2rust {command}" in jarvis("c2rust", command, "-h").out


def test_units_that_the_scan_did_not_read_are_named_by_each_command(jarvis: Jarvis, project: Path) -> None:
    unread = [UncheckedUnit("lib/bad.c", "'config.h' file not found")]
    body = scan_body(GRAPH, [], [], units=3, not_checked=unread, warnings=["guessed include directories"])
    (directory_of(project) / REPORT_FILE).write_bytes(encode_body(body))

    for command in (("symbols",), ("symbols", "pack"), ("order",), ("graph", "-o", "graph.html")):
        assert "NOT CHECKED: 1 of 3 translation units" in jarvis("c2rust", *command).err
    page = (jarvis.place / "graph.html").read_text()
    assert "<code>lib/bad.c</code>" in page and "guessed include directories" in page


def test_a_report_that_cannot_be_read_is_an_error(jarvis: Jarvis, project: Path) -> None:
    (directory_of(project) / REPORT_FILE).write_text('{"units": "many"}')
    done = jarvis("c2rust", "symbols")

    assert done.code == 2 and "scan_report.json is not the report of a scan" in done.err


@pytest.mark.slow
def test_a_run_of_the_store_is_read_instead_of_the_files(jarvis: Jarvis) -> None:
    tree = jarvis.tree("tree", {"a.c": "static int one(void) { return 1; }\nint two(void) { return one() * 2; }\n"})
    assert jarvis("c2rust", "scan", "-p", tree).code == 0
    (directory_of(tree) / "symbols.jsonl").write_text("edited\n")

    assert [line.split()[2] for line in jarvis("c2rust", "symbols", "--run", "last").out.splitlines()] == ["one", "two"]
    assert [line.split()[1] for line in jarvis("c2rust", "order", "--run", "last").out.splitlines()] == ["one", "two"]
    assert "n2 -> n1;" in jarvis("c2rust", "graph", "--run", "last").out
    assert jarvis("c2rust", "graph", "--run", "last", "-o", "graph.html").code == 0
    assert jarvis("c2rust", "order", "--run", "last", "--write").line.startswith("jarvis: --write updates the files")
    assert "tree" in (jarvis.place / "graph.html").read_text()


def test_a_run_of_another_kind_has_no_symbols(jarvis: Jarvis) -> None:
    run = jarvis.submit(jarvis.tree("tree", {"a.c": "int a;\n"}))

    assert jarvis("c2rust", "symbols", "--run", run).line.endswith("only runs of jarvis c2rust scan have symbols")
    assert jarvis("c2rust", "graph", "--run", "zzz").code == 2
