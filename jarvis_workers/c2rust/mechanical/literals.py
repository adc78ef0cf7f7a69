"""String and character literals."""

import re

from jarvis_workers.c2rust.mechanical.code import UNARY, Code
from jarvis_workers.c2rust.mechanical.context import literal, scalar
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.source.clang.c_types import CType

PREFIX = re.compile(r"(u8|[LuU])?\"", re.DOTALL)
ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]+)|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))|(.)", re.DOTALL)
SIMPLE = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "0": 0}
RUST = {10: "\\n", 9: "\\t", 13: "\\r", 34: '\\"', 92: "\\\\", 0: "\\0"}


def code_units(text: str, element: CType) -> list[int]:
    """Return the elements of a string literal as clang prints it, without the terminating null."""
    begin = PREFIX.match(text) or refuse("expression")
    units: list[int] = []
    for octal, hexadecimal, short, long, simple, character in ESCAPE.findall(text[begin.end() : -1]):
        if octal or hexadecimal:
            units.append(int(octal, 8) if octal else int(hexadecimal, 16))
        elif simple:
            units.append(SIMPLE.get(simple, ord(simple)))
        else:
            units.extend(_encoded(chr(int(short or long, 16)) if short or long else character, element.size))
    return units


def _encoded(character: str, size: int) -> list[int]:
    encoding = {1: "utf-8", 2: "utf-16-le", 4: "utf-32-le"}.get(size) or refuse("type")
    coded = character.encode(encoding, "surrogateescape")
    return [int.from_bytes(coded[at : at + size], "little") for at in range(0, len(coded), size)]


def string_pointer(text: str, element: CType) -> Code:
    """Return a pointer to the first element of a string literal; its Rust type differs from the C type."""
    units = code_units(text, element)
    if element.size > 1:
        first, *others = [literal(unit, element) for unit in (*units, 0)]
        return Code(f"(&[{', '.join([first.text, *(one.bare for one in others)])}]).as_ptr()")
    if 0 in units:
        return Code(f'b"{escaped(units)}\\0".as_ptr()')
    return Code(f'c"{escaped(units)}".as_ptr()')


def byte_array(units: list[int], element: CType) -> Code:
    """Return an array of characters."""
    array = f'*b"{escaped(units)}"'
    if scalar(element) == "u8":
        return Code(array, UNARY)
    return Code(f"core::mem::transmute::<[u8; {len(units)}], [{scalar(element)}; {len(units)}]>({array})")


def escaped(units: list[int]) -> str:
    return "".join(RUST.get(unit) or (chr(unit) if 32 <= unit < 127 else f"\\x{unit:02x}") for unit in units)
