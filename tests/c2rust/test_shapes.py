"""Registers of results and arguments by the calling conventions of both machines."""

import pytest

from jarvis_workers.c2rust.shapes import CallShape, function_shape, mentioned, shapes_text
from jarvis_workers.source.clang.c_types import CType, Field, Record
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

VOID, CHAR, INT = CType("void", "void"), CType("integer", "char", 1, 1), CType("integer", "int", 4, 4, signed=True)
LONG, FLOAT, DOUBLE = (
    CType("integer", "long", 8, 8),
    CType("floating", "float", 4, 4),
    CType("floating", "double", 8, 8),
)
POINTER = CType("pointer", "void *", 8, 8, target=VOID)
LONG_DOUBLE = CType("other", "long double", 16, 16)
FIELDS = {
    "small": (("a", INT, 0), ("b", CHAR, 4)),
    "mixed": (("a", LONG, 0), ("b", DOUBLE, 8)),
    "point": (("x", FLOAT, 0), ("y", FLOAT, 4), ("z", FLOAT, 8)),
    "large": (("a", LONG, 0), ("b", LONG, 8), ("c", LONG, 16)),
    "vector": (("v", CType("array", "double[3]", 24, 8, target=DOUBLE, length=3), 0),),
}
SIZES = {"small": (8, 4), "mixed": (16, 8), "point": (12, 4), "large": (24, 8), "vector": (24, 8)}
RECORDS = {
    key: Record(
        key, key, "struct", *SIZES[key], tuple(Field(name, type_, 8 * at) for name, type_, at in fields), b"", 1
    )
    for key, fields in FIELDS.items()
}


def record(key: str) -> CType:
    return CType("record", f"struct {key}", *SIZES[key], key=key)


def shape(machine: str, result: CType, *parameters: CType) -> CallShape:
    return function_shape(CType("function", "", target=result, parameters=parameters), RECORDS, machine)


@pytest.mark.parametrize(
    ("result", "x86_64", "aarch64"),
    [
        (VOID, "-", "-"),
        (CHAR, "r0:01", "r0:01"),
        (INT, "r0:0f", "r0:0f"),
        (POINTER, "p0:ff", "p0:ff"),
        (FLOAT, "v0:0f", "v0:0f"),
        (DOUBLE, "v0:ff", "v0:ff"),
        (CType("integer", "__int128", 16, 16), "r0:ff,r1:ff", "r0:ff,r1:ff"),
        (record("small"), "r0:1f", "r0:1f"),
        (record("mixed"), "r0:ff,v0:ff", "r0:ff,r1:ff"),
        (record("point"), "v0:ff,v1:0f", "v0:0f,v1:0f,v2:0f"),
        (record("large"), "-", "-"),
        (record("vector"), "-", "v0:ff,v1:ff,v2:ff"),
        (LONG_DOUBLE, "?", "?"),
    ],
)
def test_registers_of_results(result: CType, x86_64: str, aarch64: str):
    assert (shape("x86_64", result).result, shape("aarch64", result).result) == (x86_64, aarch64)


@pytest.mark.parametrize(
    ("parameters", "x86_64", "aarch64"),
    [
        ((), (0, ()), (0, ())),
        ((INT, DOUBLE, POINTER), (0, (0, 2)), (0, (0, 2))),
        ((INT,) * 9, (24, (0, 1, 2, 3, 4, 5)), (8, (0, 1, 2, 3, 4, 5, 6, 7))),
        ((DOUBLE,) * 9, (8, ()), (8, ())),
        ((record("large"), INT), (24, (1,)), (0, (0, 1))),
        ((record("small"), record("mixed")), (0, (0, 1)), (0, (0, 1, 1))),
    ],
)
def test_registers_of_arguments(parameters: tuple[CType, ...], x86_64: object, aarch64: object):
    assert shape("x86_64", VOID, *parameters)[1:3] == x86_64
    assert shape("aarch64", VOID, *parameters)[1:3] == aarch64


@pytest.mark.parametrize(
    ("parameters", "x86_64", "aarch64"),
    [
        ((INT,), 0, 0),
        ((INT, DOUBLE, FLOAT), 2, 2),
        ((DOUBLE,) * 9, 8, 8),
        ((record("mixed"), record("point")), 3, 3),
    ],
)
def test_vector_registers_of_arguments(parameters: tuple[CType, ...], x86_64: int, aarch64: int):
    assert (shape("x86_64", VOID, *parameters).vectors, shape("aarch64", VOID, *parameters).vectors) == (
        x86_64,
        aarch64,
    )


def test_the_address_of_a_large_result_is_an_argument():
    assert shape("x86_64", record("large"), INT).parameters == (-1, 0)
    assert shape("aarch64", record("large"), INT).parameters == (0,)


def test_the_file_has_a_line_a_function():
    functions = {name: CType("function", "", target=INT, parameters=(POINTER,)) for name in ("g", "unit__f")}

    assert shapes_text(functions, RECORDS, "x86_64") == "g\tr0:0f\t0\t1+0\tff\nunit__f\tr0:0f\t0\t1+0\tff\n"
    silent = shapes_text(functions, RECORDS, "x86_64", silent=["g"])
    assert silent == "g\tr0:0f\t0\t1+0\t00\nunit__f\tr0:0f\t0\t1+0\tff\n"


def test_the_vector_registers_of_a_variadic_function_are_unknown():
    function = CType("function", "", target=INT, parameters=(POINTER,), variadic=True)

    assert shapes_text({"f": function}, RECORDS, "x86_64") == "f\tr0:0f\t0\t1\tff\n"


def test_a_line_mentions_constants_and_members():
    item = CType("record", "struct item", size=16, align=8, key="item")
    items = CType("array", "struct item[3]", target=item, length=3, size=48, align=8)
    records = {
        "item": Record("item", "item", "struct", 16, 8, (Field("a", INT, 0), Field("b", INT, 64)), b"a.h", 1),
        "list": Record("list", "list", "struct", 56, 8, (Field("size", INT, 0), Field("items", items, 64)), b"a.h", 5),
    }
    list_ = SyntaxNode("name", 1, "struct list *", "list", local=1)
    array = SyntaxNode("member", 1, "struct item[3]", "items", "->", "list", value=1, children=(list_,))
    element = SyntaxNode("subscript", 1, "struct item", children=(array, list_))
    member = SyntaxNode("member", 1, "int", "b", ".", "item", value=1, children=(element,))
    size = SyntaxNode("member", 1, "int", "size", "->", "list", value=0, children=(list_,))

    tree = SyntaxNode("compound", 1, children=(member, size))

    assert mentioned((-1, 1 << 70, 7), tree, records) == "\t-1,7\t0:4:4:1,8:8:16:3,16:4:16:3"
    assert mentioned((), SyntaxNode("compound", 1), records) == "\t-\t-"
