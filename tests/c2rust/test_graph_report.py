"""The report on a symbol graph as text, Markdown and JSON."""

import json
import re
from dataclasses import replace

import pytest

from jarvis_workers.c2rust.report.body import ScanBody, UncheckedUnit, decode_body, encode_body, scan_body
from jarvis_workers.c2rust.report.json import render_json
from jarvis_workers.c2rust.report.markdown import render_markdown
from jarvis_workers.c2rust.report.text import render_text
from jarvis_workers.c2rust.report.wording import words_in_reports
from jarvis_workers.c2rust.symbol import SymbolGraph
from tests.c2rust.graphs import graph_of, large_graph, order_of

HOSTILE = "a`|<b>\n\u202e\x1b[31m**"


def example() -> ScanBody:
    """main calls even, even and odd call each other, odd calls itself; one of three units was not read."""
    facts = {"odd": {"facts": ("goto", "internal"), "lines": 30, "complete": False}, "even": {"facts": ("goto",)}}
    graph = graph_of(["main", "even", "odd"], [(1, 2), (2, 3), (3, 2), (3, 3)], **facts)
    return scan_body(
        graph,
        order_of(graph, (2, 3)),
        [1],
        units=3,
        not_checked=[UncheckedUnit("src/bad.c", "'zconf.h' file not found")],
        warnings=["include directories were guessed"],
    )


def test_the_body_counts_symbols_edges_and_facts() -> None:
    body = example()

    assert (body.units, body.files, body.lines, body.steps) == (3, 1, 50, 2)
    assert (body.recursive, body.incomplete) == (1, 1)
    assert body.symbols == {"function": 3} and body.edges == {"call": 4}
    assert list(body.facts.items()) == [("goto", 2), ("internal", 1)]
    assert [root.name for root in body.roots] == ["main"]
    assert [[member.name for member in cycle] for cycle in body.cycles] == [["even", "odd"]]
    assert (body.largest[0].name, body.largest[0].lines) == ("odd", 30)
    assert [(one.name, one.users) for one in body.most_used] == [("even", 2), ("odd", 1)]


def test_the_json_of_a_body_is_read_back() -> None:
    body = example()

    assert decode_body(encode_body(body)) == body
    with pytest.raises(ValueError, match="units"):
        decode_body(b'{"units": "many"}')


def test_units_that_were_not_read_stand_before_the_numbers() -> None:
    lines = "".join(render_text(example(), {})).splitlines()

    assert lines[0].startswith("NOT CHECKED: 1 of 3 translation units")
    assert lines[1] == "  src/bad.c: 'zconf.h' file not found"
    assert lines[2] == "warning: include directories were guessed"
    assert lines[3].startswith("3 functions (50 lines), 0 types")
    markdown = "".join(render_markdown(example(), {}))
    assert markdown.index("NOT CHECKED") < markdown.index("3 functions")
    assert "`src/bad.c`" in markdown


def test_long_lists_are_cut_and_their_rest_is_counted() -> None:
    graph = graph_of([f"f{number}" for number in range(200)])
    body = scan_body(graph, order_of(graph), range(1, 201), units=1)

    assert "  and 190 more\n" in list(render_text(body, {}))
    assert "And 150 more." in "".join(render_markdown(body, {}))


def test_hostile_names_stay_in_their_line_and_their_code_span() -> None:
    graph = graph_of([HOSTILE, "b"], [(1, 2), (2, 1)])
    body = scan_body(graph, order_of(graph, (1, 2)), [1], units=1, not_checked=[UncheckedUnit(HOSTILE, HOSTILE)])
    text, markdown = "".join(render_text(body, {})), "".join(render_markdown(body, {"scanned_root": HOSTILE}))

    for form in (text, markdown, "".join(render_json(body, {}))):
        assert not {"\u202e", "\x1b"} & set(form)
    assert "<b>" not in re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", markdown)
    assert len([line for line in text.splitlines() if line.startswith("NOT CHECKED")]) == 1


def test_json_contains_run_and_graph() -> None:
    document = json.loads("".join(render_json(example(), {"id": "a1"})))

    assert document["run"] == {"id": "a1"}
    assert document["graph"]["not_checked"] == [{"file": "src/bad.c", "reason": "'zconf.h' file not found"}]
    assert document["graph"]["cycles"][0][1]["name"] == "odd"


def test_an_empty_graph_has_a_report() -> None:
    body = scan_body(SymbolGraph(), [], [], units=0)

    assert body == ScanBody()
    assert "".join(render_text(body, {})).startswith("0 functions")


def test_the_largest_functions_of_a_large_graph() -> None:
    body = scan_body(large_graph(2_000, 8_000), [], [], units=80)
    lines = [one.lines for one in body.largest]

    assert len(lines) == 20 and lines == sorted(lines, reverse=True)


def test_a_report_in_chinese_has_no_english_text() -> None:
    say, run = words_in_reports("zh"), {"id": "1"}
    graph = graph_of([f"f{number}" for number in range(60)], [(1, 2)], f0={"facts": ("goto",)})
    large = scan_body(graph, order_of(graph, tuple(range(1, 30))), range(1, 60), units=1)
    bodies = (replace(example(), warnings=(), not_checked=(UncheckedUnit("u.c", "x"),)), large)
    texts = ["".join(render(body, run, say)) for body in bodies for render in (render_text, render_markdown)]

    assert texts[0].splitlines()[0] == "未检查：3 个翻译单元中有 1 个无法读取，图中缺少它们的符号和边"
    assert "  src/main.c:20: main (10 行, 0 个使用者)" in texts[0]
    assert "| 边 | 数量 |\n| --- | --- |\n| 调用 | 4 |" in texts[1]
    words = {word for text in texts for word in re.findall("[A-Za-z]{4,}", text)}
    assert words <= {"even", "goto", "internal", "main"}
