"""Lines of symbols and orders that anybody may have written: read, or one error that names the line."""

import json
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.c2rust.dot import dot_lines
from jarvis_workers.c2rust.symbol_lines import symbol_lines
from jarvis_workers.c2rust.symbol_reader import compute_order, read_order, read_symbols
from jarvis_workers.errors import UsageError
from tests.c2rust.test_symbol_lines import FIELDS, OURS

ANY_TEXT = st.text(st.characters(), max_size=6)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=2))
IDS = st.integers(0, 5)
SYMBOLS = st.fixed_dictionaries(
    {"id": IDS, "name": st.sampled_from(["f", "g", "\ud800", "a\x00b"])},
    optional={
        **{name: VALUES for name in (*FIELDS, *OURS, "more") if name not in ("id", "name", "ref", "calls", "file")},
        "ref": st.lists(IDS | ANY_TEXT, max_size=3),
        "calls": st.lists(st.sampled_from("fgh"), max_size=3),
        "file": st.sampled_from(["a.c", "/abs/a.c", "../a.c", "\\xff\x00", "", "\ud800"]),
    },
)
NEARLY_VALID = st.lists(
    st.fixed_dictionaries(
        {"id": st.integers(0, 9), "name": st.sampled_from(["f", "g", "\u2028", "a\x00b"])},
        optional={
            "category": st.sampled_from(["function", "type", "global"]),
            "ref": st.lists(st.integers(0, 9) | st.sampled_from("fghi"), max_size=4),
            "calls": st.lists(st.sampled_from("fgh"), max_size=3),
            "file": st.sampled_from(["a.c", "/abs/a.c", "\\xff.c", ""]),
            "more": VALUES,
        },
    ),
    unique_by=lambda line: line["id"],
    max_size=6,
).map(lambda lines: [json.dumps(line) for line in lines])
LINES = NEARLY_VALID | st.lists(SYMBOLS.map(json.dumps) | VALUES.map(json.dumps) | ANY_TEXT, max_size=4)
STEPS = st.fixed_dictionaries({"ids": st.lists(IDS | VALUES, max_size=3)}, optional={"items": VALUES | st.just([])})


@given(LINES, st.lists(STEPS.map(json.dumps) | ANY_TEXT, max_size=3))
def test_any_lines_are_read_or_refused_with_their_number(lines: list[str], steps: list[str]) -> None:
    with suppress(UsageError):
        file = read_symbols(lines, "symbols.jsonl")
        order = read_order(steps, file)
        functions = {one.id for one in file.graph.symbols if one.category == "function"}

        assert functions <= {number for step in order.steps for number in step.ids} <= file.graph.by_id.keys()
        assert order.steps == compute_order(file) or not order.reason
        assert all(text.encode().endswith(b"\n") for text in (*symbol_lines(file.graph), *dot_lines(file.graph)))
