"""Differences of shadow named by the types of arguments, results and globals."""

import struct

import pytest

from jarvis_workers.c2rust.shadow_fields import FieldDifference, FunctionTypes, is_padding, name_field
from jarvis_workers.c2rust.shadow_log import MemoryDifference, MemoryRegion
from jarvis_workers.source.clang.c_types import CType, Field, Record

VOID, CHAR, INT = CType("void", "void"), CType("integer", "char", 1, 1), CType("integer", "int", 4, 4, signed=True)
DOUBLE = CType("floating", "double", 8, 8)
NODE = CType("record", "struct node", 56, 8, key="node")
ANY = CType("record", "union any", 8, 8, key="any")
INTS = CType("array", "int[4]", 16, 4, target=INT, length=4)


def pointer(target: CType) -> CType:
    return CType("pointer", f"{target.spelling} *", 8, 8, target=target)


RECORDS = {
    "node": Record(
        *("node", "node", "struct", 56, 8),
        (
            Field("next", pointer(NODE), 0),
            Field("tag", CHAR, 64),
            Field("small", INT, 72, 3, bit_field=True),
            Field("values", INTS, 96),
            Field("mean", DOUBLE, 256),
            Field("data", pointer(VOID), 320),
            Field("any", ANY, 384),
        ),
        *(b"", 1),
    ),
    "any": Record("any", "any", "union", 8, 8, (Field("i", INT, 0), Field("d", DOUBLE, 0)), b"", 1),
}
FUNCTION = CType("function", "", target=pointer(NODE), parameters=(DOUBLE, pointer(NODE), pointer(INT)))
TYPES = FunctionTypes(FUNCTION, {"list": pointer(NODE), "table": INTS}, RECORDS, "x86_64")


def difference(kind: str, start: str, offsets: tuple[int, ...], c: bytes, rust: bytes) -> MemoryDifference:
    return MemoryDifference("f", 1, MemoryRegion(kind, start, offsets), c, rust, ())


def number(value: int, size: int = 8) -> bytes:
    return value.to_bytes(size, "little")


@pytest.mark.parametrize(
    ("start", "offsets", "both", "expected"),
    [
        ("argument 0", (0,), (number(16), number(32)), ("argument 1->next", "0x10", "0x20")),
        ("argument 0", (8,), (b"a\0\0\0\1\0\0\0", b"b\0\0\0\2\0\0\0"), ("argument 1->tag", "97", "98")),
        ("argument 0", (8,), (b"a\0\0\0\1\0\0\0", b"a\0\0\0\2\0\0\0"), ("argument 1->values[0]", "1", "2")),
        (
            "argument 0",
            (0, 0, 32),
            (struct.pack("d", 0.5), struct.pack("d", 2)),
            ("argument 1->next->next->mean", "0.5", "2.0"),
        ),
        ("argument 0", (56 * 2 + 12,), (b"\1\0\0\0", b"\xff" * 4), ("argument 1[2].values[0]", "1", "-1")),
        ("argument 1", (0,), (number(3, 4), number(4, 4)), ("*argument 2", "3", "4")),
        ("result", (0, 8), (b"a", b"b"), ("result->tag", "97", "98")),
        ("list", (0, 48), (number(1), number(2)), ("list->any", "0100000000000000", "0200000000000000")),
        ("table", (8,), (number(1), number(1 << 32 | 1)), ("table[3]", "0", "1")),
        ("argument 0", (9,), (b"\1", b"\2"), ("argument 1->small", "01", "02")),
    ],
)
def test_fields(start: str, offsets: tuple[int, ...], both: tuple[bytes, bytes], expected: tuple[str, str, str]):
    assert name_field(difference("heap", start, offsets, *both), TYPES) == FieldDifference(*expected)


def test_a_result_in_a_register():
    assert name_field(difference("result", "p0", (), number(1), number(2)), TYPES) == ("result", "0x1", "0x2")


@pytest.mark.parametrize(
    ("start", "offsets"),
    [
        ("argument 0", (40, 0)),
        ("argument 3", (0,)),
        ("block 40", (0,)),
        ("list", (9, 0)),
        ("table", (99,)),
        ("?", (0,)),
    ],
)
def test_what_no_type_leads_to_has_no_field(start: str, offsets: tuple[int, ...]):
    unknown = difference("heap", start, offsets, b"a", b"b")

    assert name_field(unknown, TYPES) is None
    assert not is_padding(unknown, TYPES)


def test_bytes_between_members_are_padding():
    padding = difference("heap", "argument 0", (8,), b"a\1\0\0\0\0\0\0", b"a\1\7\7\0\0\0\0")

    assert is_padding(padding, TYPES)
    assert name_field(padding, TYPES) is None
    assert not is_padding(padding._replace(rust=b"b\1\7\7\0\0\0\0"), TYPES)
    assert not is_padding(difference("blocks", "", (), b"a", b"b"), TYPES)


@pytest.mark.parametrize(
    ("start", "both", "expected"),
    [
        ("get_bit 1", (number(48), number(0)), FieldDifference("argument 1 of the call of get_bit", "48", "0")),
        (
            "get_bit 0",
            (number(255, 8), number(16, 8)),
            FieldDifference("argument 0 of the call of get_bit", "0xff", "0x10"),
        ),
        ("get_bit 2", (number(1), number(2)), None),
        ("other 0", (number(1), number(2)), None),
    ],
)
def test_an_argument_of_a_call_is_named(
    start: str, both: tuple[bytes, bytes], expected: FieldDifference | None
) -> None:
    callee = CType("function", "", target=INT, parameters=(pointer(CHAR), INT))
    types = FunctionTypes(FUNCTION, {}, RECORDS, "x86_64", {"get_bit": callee})

    assert name_field(difference("call", start, (), *both), types) == expected
