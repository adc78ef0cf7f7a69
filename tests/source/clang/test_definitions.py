"""The definitions of a unit: canonical types of all nodes, layouts of records, members with their records."""

from pathlib import Path

import pytest

from jarvis_workers.source.clang.c_types import CDefinition, CType, UnitDefinitions
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.source.clang.unit_json import decode_definitions, encode_definitions
from jarvis_workers.toolchain.headers import builtin_headers

SOURCE = """
#include "inner.h"
struct outer {
    int a;
    union { int b; struct { short c, d; }; };
    union { float e; } u;
    unsigned f:3, :2, g:7;
    char tail[];
};
typedef struct { long q; } T;
enum big { BIG = 0xffffffffu };
struct opaque;
int counter;
static int table[];
static int table[] = {1, [3] = 2};
static const char *const names[2] = {"a", "b"};
extern int elsewhere;
int other(const T *, struct opaque *);
int f(struct outer *p, T *t, struct opaque *o, volatile int *v) {
    struct l { int m; } x = {3};
    { struct l { long n; } y = {4}; x.m = y.n; }
    extern int locally;
    p->b = 1; p->c = 2; p->u.e = *v; (*p).d = p->g;
    switch (x.m) { case (char)300: return 1; case 1 ... 2 + 1: return BIG; }
    return other(t, o) + elsewhere + locally + counter + table[0] + __builtin_abs(x.m) + twice(2);
}
int k_and_r(a, b) char a; long b; { return a + b; }
"""
INNER = "static inline int twice(int n) { return 2 * n; }\n"


def read(root: Path, source: str) -> UnitDefinitions:
    (root / "a.c").write_text(source)
    return read_definitions(root, CompileCommand(b"a.c", b"", ()), builtin_headers(None))


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> UnitDefinitions:
    root = tmp_path_factory.mktemp("definitions")
    (root / "inner.h").write_text(INNER)
    return read(root, SOURCE)


def definition(unit: UnitDefinitions, name: str) -> CDefinition:
    (found,) = [one for one in unit.definitions if one.name == name]
    return found


def members(unit: UnitDefinitions, name: str) -> list[SyntaxNode]:
    return [node for node in walk(definition(unit, name).tree) if node.kind == "member"]


def test_definitions_are_functions_and_globals_also_tentative_ones_and_those_of_headers(unit):
    names = [(one.name, one.internal, one.constant) for one in unit.definitions]

    assert names == [
        ("twice", True, False),
        ("counter", False, False),
        ("table", True, False),
        ("names", True, True),
        ("f", False, False),
        ("k_and_r", False, False),
    ]
    assert definition(unit, "table").type.length == 4
    assert definition(unit, "twice").extent.file == b"inner.h"


def test_every_type_of_a_node_is_resolved(unit):
    nodes = [node for one in unit.definitions for node in walk(one.tree) if node.type]

    assert {node.type for node in nodes} <= unit.types.keys()
    assert unit.types["volatile int *"].target == CType("integer", "int", 4, 4, signed=True, volatile=True)


def test_types_of_one_spelling_are_told_apart(unit):
    m, n, *_ = (node for node in members(unit, "f") if node.name in ("m", "n"))
    x, y = (unit.types[node.children[0].type] for node in (m, n))

    assert (x.size, y.size) == (4, 8)
    assert unit.records[x.key].fields[0].name == "m"


def test_a_member_has_its_record_and_number_also_through_anonymous_members(unit):
    for node in members(unit, "f"):
        field = unit.records[node.target].fields[node.value]
        object_ = unit.types[node.children[0].type]

        assert field.name == node.name
        assert (object_.target if node.operator == "->" else object_).key == node.target
        assert field.type.kind == unit.types[node.type].kind
    path = next(node for node in members(unit, "f") if node.name == "c")
    assert [node.operator for node in walk(path) if node.kind == "member"] == [".", ".", "->"]


def test_records_have_the_layout_of_clang(unit):
    outer = next(one for one in unit.records.values() if one.name == "outer")

    assert (outer.kind, outer.size, outer.align) == ("struct", 16, 4)
    assert [(one.name, one.offset, one.width, one.bit_field) for one in outer.fields] == [
        ("a", 0, 0, False),
        ("", 32, 0, False),
        ("u", 64, 0, False),
        ("f", 96, 3, True),
        ("", 99, 2, True),
        ("g", 101, 7, True),
        ("tail", 112, 0, False),
    ]
    assert outer.fields[-1].type.kind == "incomplete_array"
    opaque = next(one for one in unit.records.values() if one.name == "opaque")
    assert (opaque.size, opaque.fields) == (-1, ())
    assert "T" in {one.name for one in unit.records.values()}


def test_enums_have_their_constants_with_the_values_of_their_type(tmp_path):
    source = "enum big { BIG = 0xffffffffu, ONE = 1 }; typedef enum { LOW = -2, SAME = -2 } low; enum none;\n"
    source += "enum wide { WIDE = 0x8000000000000000ull }; enum unused { UNUSED }; enum { UNNAMED } state;\n"
    unit = read(tmp_path, source + "enum big f(low l, enum wide w, enum none *n) { return ONE; }\n")

    assert {one.name: (one.type.spelling, dict(one.constants)) for one in unit.enums.values()} == {
        "big": ("unsigned int", {"BIG": 0xFFFFFFFF, "ONE": 1}),
        "low": ("int", {"LOW": -2, "SAME": -2}),
        "wide": ("unsigned long", {"WIDE": 1 << 63}),
        "none": ("", {}),
        "": ("unsigned int", {"UNNAMED": 0}),
    }
    assert {one.line for one in unit.enums.values() if one.name} == {1, 2}
    assert decode_definitions(encode_definitions(unit)) == unit


def test_declared_functions_and_globals_have_their_types(unit):
    declared = {one.name: one for one in unit.declared}

    assert set(declared) == {"other", "elsewhere", "locally", "__builtin_abs"}
    assert declared["other"].project and not declared["__builtin_abs"].project
    assert declared["other"].type.parameters[0].const
    assert declared["other"].type.target == CType("integer", "int", 4, 4, signed=True)
    assert definition(unit, "k_and_r").type.parameters[1].spelling == "long"


def test_labels_and_designators_have_their_values(unit):
    cases = [node for node in walk(definition(unit, "f").tree) if node.kind == "case"]

    assert [[child.value for child in node.children[:-1]] for node in cases] == [[44], [1, 3]]
    assert all(node.children[0].children[0].children for node in cases[:1])
    indices = [node.children[0].value for node in walk(definition(unit, "table").tree) if node.kind == "designated"]
    assert indices == [3]


def test_json_returns_equal_definitions(unit):
    line = encode_definitions(unit)

    assert decode_definitions(line) == unit
    assert encode_definitions(decode_definitions(line)) == line
    with pytest.raises(ValueError, match="version"):
        decode_definitions(b"[0]")


def test_json_of_a_deep_tree_needs_no_recursion(tmp_path):
    unit = read(tmp_path, f"int f(int n) {{ return {'- ' * 1100}n; }}\n")

    decoded = decode_definitions(encode_definitions(unit))

    assert sum(1 for _ in walk(decoded.definitions[0].tree)) == sum(1 for _ in walk(unit.definitions[0].tree)) > 1100


ARRAYS = """
#include <stdarg.h>
typedef int vec[4];
static int take(const int a[], const vec b) { return a[0] + b[3]; }
int f(const int a[], const vec b, char *const c[], volatile int d[static const 3], int e(int), struct { int n; } s[]) {
    int own[4] = {1}; __typeof__(a) copy = a;
    a++; (a) += 1; a = 1 ? a : b; &*b; __extension__ a; own[0] = take(own, own) + take(a, b);
    return *a + b[1] + c[0][0] + d[2] + e(1) + s->n + copy[1] + (a ? 1 : 2) + own[1] + (a == b) + (&a)[0][1];
}
int k_and_r(a) int a[4]; { return *a; }
int list(va_list a) { return va_arg(a, int); }
"""


def test_parameters_that_are_written_as_arrays_or_functions_are_pointers_wherever_they_are_used(tmp_path):
    unit = read(tmp_path, ARRAYS)
    for one in unit.definitions:
        parameters = [child for child in one.tree.children if child is not None and child.kind == "parameter"]
        locals_ = {node.local: plain(unit.types[node.type]) for node in parameters}
        assert list(locals_.values()) == [plain(type_) for type_ in one.type.parameters]
        assert {type_[0] for type_ in locals_.values()} == {"pointer"}
        names = [node for node in walk(one.tree) if node.kind == "name" and node.local in locals_]
        assert names
        assert all(plain(unit.types[node.type]) == locals_[node.local] for node in names)

    function = definition(unit, "f").tree
    arrays = {(node.kind, node.type) for node in walk(function) if unit.types.get(node.type, FLAT).kind in ARRAY_KINDS}
    assert arrays == {
        ("variable", "int[4]"), ("name", "int[4]"), ("initializers", "int[4]"), ("subscript", "const int[]")
    }  # fmt: skip


FLAT = CType("void", "void")
ARRAY_KINDS = ("array", "incomplete_array")


def plain(type_: CType) -> tuple[str, bool, CType | None]:
    return type_.kind, type_.const, type_.target
