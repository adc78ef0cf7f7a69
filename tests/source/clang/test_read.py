"""A translation unit becomes symbols and references."""

from pathlib import Path

from jarvis_workers.source.clang.unit_json import decode_unit, encode_unit
from tests.source.clang.reading import read_files, read_source

LIBRARY = """
#include <stddef.h>
#include <string.h>
#define LIMIT 10
#define TWICE(x) ((x) * 2)
#define BOUND TWICE(LIMIT)
struct node { struct node *next; size_t size; };
typedef struct { int number; } item;
enum { FIRST, SECOND };
static int counter = LIMIT;
static int compare(const void *a, const void *b) { return a < b; }
static int (*const table[])(const void *, const void *) = { compare };
int used(struct node *node, item *one)
{
    counter += BOUND + one->number + SECOND;
    return (int)strlen("x") + table[0](node, one);
}
"""


def test_symbols_and_who_uses_whom(tmp_path: Path) -> None:
    unit = read_source(tmp_path, LIBRARY)

    assert not unit.unit.diagnostics
    assert unit.names == [
        *("LIMIT", "TWICE", "BOUND", "node", "item", "(anonymous enum)", "counter", "compare", "table", "used"),
    ]
    assert unit.uses("used") == {
        "call": {"strlen"},
        "global": {"counter", "table"},
        "type": {"node", "item", "(anonymous enum)"},
        "macro": {"BOUND"},
    }
    assert unit.uses("table") == {"address": {"compare"}}
    assert unit.uses("counter") == {"macro": {"LIMIT"}}
    assert unit.uses("BOUND") == {"macro": {"LIMIT", "TWICE"}}
    assert unit.uses("node") == {"type": {"size_t"}}


def test_a_function_as_a_value(tmp_path: Path) -> None:
    used = read_source(tmp_path, LIBRARY).symbol("used")

    assert (used.key, used.category, used.kind, used.language) == ("c:@F@used", "function", "function", "c")
    assert used.signature == "int used(struct node *node, item *one)"
    assert used.return_type == "int"
    assert [tuple(parameter) for parameter in used.parameters] == [("node", "struct node *"), ("one", "item *")]
    assert tuple(used.extent) == (b"unit.c", 13, 1, 17, 1)
    assert used.is_definition
    assert used.facts == ("indirect_calls",)


def test_prototypes_are_names_only_where_they_are_used(tmp_path: Path) -> None:
    unit = read_files(
        tmp_path,
        {
            "a.c": '#include "a.h"\nint near(struct later *one) { return one != 0 && far(shared); }\n',
            "a.h": "int far(int); int unused(void); extern int shared; extern int idle; struct later;\n",
        },
    )

    assert sorted(unit.names) == ["later", "near"]
    assert unit.unit.externals == (("c:@F@far", "far"), ("c:@shared", "shared"))
    assert unit.uses("near") == {"call": {"far"}, "global": {"shared"}, "type": {"later"}}


def test_a_macro_has_its_text(tmp_path: Path) -> None:
    unit = read_source(tmp_path, LIBRARY)

    assert unit.symbol("TWICE").signature == "TWICE(x) ((x) * 2)"
    assert unit.facts("TWICE") == {"function_like"}
    assert unit.symbol("LIMIT").key == "unit.c#c:@macro@LIMIT"


def test_a_unit_survives_its_json(tmp_path: Path) -> None:
    unit = read_files(
        tmp_path,
        {b"a \xff\n.c": '#include "x.h"\nint f(void) { return missing_type; }', "x.h": LIBRARY},
    ).unit

    assert unit.errors
    assert unit.includes == (b"x.h",)
    assert decode_unit(encode_unit(unit)) == unit
