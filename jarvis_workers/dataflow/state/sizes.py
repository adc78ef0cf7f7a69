"""Sizes and limits of C types on common 64-bit systems (LP64)."""

import re
from collections.abc import Callable
from typing import NamedTuple

from jarvis_workers.dataflow.ir.expr import NumberExpr
from jarvis_workers.dataflow.ir.stmt import RecordType

POINTER = 8
# The size of an unknown type: every use of the type has it, and no known size is a multiple of it.
OTHER = 10_007
INT_MAX, UINT_MAX = 2**31 - 1, 2**32 - 1
NAMES_BY_SIZE = {
    1: "char|signed char|unsigned char|bool|_Bool|int8_t|uint8_t|u8|s8|uchar|u_char|u_int8_t|BYTE|byte|void",
    2: "short|unsigned short|short int|int16_t|uint16_t|u16|s16|u_short|u_int16_t|char16_t",
    4: "int|unsigned|unsigned int|signed|signed int|int32_t|uint32_t|u32|s32|float|wchar_t"
    "|char32_t|DWORD|uint|u_int|u_int32_t",
    8: "long|unsigned long|long int|long long|unsigned long long|long long int|int64_t|uint64_t|u64|s64|double"
    "|u_long|u_int64_t|size_t|ssize_t|intptr_t|uintptr_t|off_t|ptrdiff_t|time_t|long unsigned int",
    16: "long double",
}
# The types of bytes and characters, and that of the target of a pointer to any memory.
BYTES = frozenset(NAMES_BY_SIZE[1].split("|"))
SIZES = {name: size for size, names in NAMES_BY_SIZE.items() for name in names.split("|")}
UNSIGNED = re.compile(
    r"unsigned|^u_?(?:int|\d|char|short|long)|(?<!s)size_t$|^bool|^_Bool|BYTE|DWORD|byte|wchar_t|uintptr"
)
NUMBERS_WITH_FRACTIONS = ("float", "double", "long double")
NO_NUMBERS = frozenset((*NUMBERS_WITH_FRACTIONS, "void"))
TYPE_ENDS = frozenset((127, 255, 32_767, 65_535, 2**24 - 1, INT_MAX, UINT_MAX, 2**63 - 1, 2**64 - 1))
CONSTANTS = {
    "CHAR_MAX": 127,
    "CHAR_MIN": -128,
    "SCHAR_MAX": 127,
    "SCHAR_MIN": -128,
    "UCHAR_MAX": 255,
    "SHRT_MAX": 32_767,
    "SHRT_MIN": -32_768,
    "USHRT_MAX": 65_535,
    "INT_MAX": INT_MAX,
    "INT_MIN": -INT_MAX - 1,
    "UINT_MAX": UINT_MAX,
    "LONG_MAX": 2**63 - 1,
    "LONG_MIN": -(2**63),
    "ULONG_MAX": 2**64 - 1,
    "LLONG_MAX": 2**63 - 1,
    "LLONG_MIN": -(2**63),
    "ULLONG_MAX": 2**64 - 1,
    "SIZE_MAX": 2**64 - 1,
    "INT8_MAX": 127,
    "INT16_MAX": 32_767,
    "INT32_MAX": INT_MAX,
    "INT64_MAX": 2**63 - 1,
    "UINT8_MAX": 255,
    "UINT16_MAX": 65_535,
    "UINT32_MAX": 2**32 - 1,
    "UINT64_MAX": 2**64 - 1,
    "EOF": -1,
    "TRUE": 1,
    "FALSE": 0,
    "PATH_MAX": 4096,
    "INVALID_SOCKET": -1,
    "SOCKET_ERROR": -1,
    "EXIT_FAILURE": 1,
    "EXIT_SUCCESS": 0,
    "ERANGE": 34,
    "BUFSIZ": 8192,
}


class Layout(NamedTuple):
    """The offset and size of each field of a struct, its own size, and its alignment, in bytes."""

    fields: dict[str, tuple[int, int]]
    size: int
    alignment: int


def lay_out(record: RecordType, measure: Callable[[str], tuple[int, int]]) -> Layout | None:
    """Return the layout of a struct by the System V ABI; None if a field is of unknown size.

    `measure` returns the size and the alignment of a type.  A flexible array has no size.
    """
    end, alignment, largest = 0, 1, 0
    fields: dict[str, tuple[int, int]] = {}
    for name, (kind, dims) in record.fields.items():
        size, aligned = measure(kind)
        for dim in dims:
            if dim is not None and not isinstance(dim, NumberExpr):
                return None
            size *= dim.value if dim is not None else 0
        if size and size % OTHER == 0:
            return None
        start = 0 if record.union else -(-end // aligned) * aligned
        fields[name] = start, size
        end, largest, alignment = start + size, max(largest, size), max(alignment, aligned)
    size = -(-(largest if record.union else end) // alignment) * alignment
    return Layout(fields, size, alignment) if size and not record.bases and not record.shared else None


def is_in_units(amount: int | None) -> bool:
    """Return whether a number counts the bytes of an unknown type: it has no meaning beside other numbers."""
    return amount is not None and amount != 0 and amount % OTHER == 0


def shown_size(amount: int) -> str:
    """Return a number of bytes as text; of elements, if their size is unknown."""
    return f"{amount // OTHER} elements" if is_in_units(amount) else f"{amount} bytes"


def shown_excess(amount: int, room: int) -> str:
    """Return an amount and the room for it, which is counted in the same unit, as text."""
    return f"{shown_size(amount)} but only {max(room, 0) // (OTHER if is_in_units(amount) else 1)} remain"


def comparable(amount: int, size: int) -> bool:
    """Return whether two sizes are comparable: both are known, or both are multiples of the same unknown type."""
    return size == 0 or (amount % OTHER == 0) == (size % OTHER == 0)


def is_signed(kind: str) -> bool:
    return not UNSIGNED.search(kind)


def limits_of(kind: str) -> tuple[int, int] | None:
    """Return the minimum and maximum of a type; None for an unknown or non-integer type."""
    return LIMITS.get(kind)


def _limits(kind: str, size: int) -> tuple[int, int]:
    bits = 8 * size
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed(kind) else (0, (1 << bits) - 1)


LIMITS = {kind: _limits(kind, size) for kind, size in SIZES.items() if kind not in NO_NUMBERS}
