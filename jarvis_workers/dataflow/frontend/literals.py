"""Decode the literals of C and C++: numbers, characters and strings with their escapes."""

import math
import re
from typing import Any

TEXT_MAX = 400
DIGITS_MAX = 64
SUFFIX = re.compile(r"(?:[uUlLzZ]*|[uU]?i(?:8|16|32|64|128))\Z")
TYPE_SUFFIX = re.compile(r"[\da-fA-F](?:[uU][lL]{0,2}|[lL]{1,2}[uU]?)\Z")
FLOAT_SUFFIX = re.compile(r"(?:[fFlLqQ]|[fF]\d+x?|bf16|d[dfl])?\Z")
ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))|(\r?\n)|(.))", re.DOTALL
)
SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}
RAW = re.compile(r'R"([^()\\\s]{0,16})\((.*)\)\1"', re.DOTALL)
REPLACED = "\ufffd"


def number(text: str) -> list[Any]:
    """Return the expression of a numeric literal: "n" for an integer, "f" for a fraction, "x" if it is malformed."""
    if len(text) > DIGITS_MAX:
        return ["x"]
    bare = text.replace("'", "")
    if bare[:1] in ("-", "+"):
        op, result = bare[0], number(bare[1:])
        return negate(result) or result if op == "-" else result
    try:
        value = _integer(bare[: SUFFIX.search(bare).start()])  # type: ignore[union-attr]
    except ValueError:
        return _floating(bare)
    return ["n", value]


def typed_number(text: str) -> list[Any]:
    """Return the expression of a numeric literal, as a cast to the type if its suffix names one."""
    plain = number(text)
    suffix = TYPE_SUFFIX.search(text) if plain[0] == "n" and plain[1] else None
    if suffix is None:
        return plain
    letters = suffix[0][1:].lower()
    size = "long" if "l" in letters else "int"
    return ["t", f"unsigned {size}" if "u" in letters else size, plain]


def negate(value: list[Any]) -> list[Any] | None:
    """Return the negated numeric constant, or None for any other expression."""
    match value:
        case ["n" | "f" as tag, amount]:
            return [tag, -amount]
    return None


def _integer(text: str) -> int:
    prefix = text[:2].lower()
    if prefix == "0x":
        return int(text[2:], 16)
    if prefix == "0b":
        return int(text[2:], 2)
    if "_" in text:
        raise ValueError(text)
    return int(text, 8) if len(text) > 1 and text[0] == "0" else int(text)


def _floating(text: str) -> list[Any]:
    try:
        if text[:2].lower() == "0x":
            value = float.fromhex(text.rstrip("lL"))
        else:
            value = float(FLOAT_SUFFIX.sub("", text, count=1))
    except (ValueError, OverflowError):
        return ["x"]
    return ["f", value] if math.isfinite(value) else ["x"]


def character(text: str) -> list[Any]:
    """Return the expression of a character literal; multi-character constants are combined as compilers do."""
    quote = text.find("'")
    inner = _decoded(text[quote + 1 : -1], wide=quote > 0)
    if quote < 0 or not 0 < len(inner) <= 4:
        return ["x"]
    value = 0
    for found in inner:
        value = value << 8 | ord(found)
    return ["n", value]


def string(parts: list[str]) -> list[Any]:
    """Return the expression of adjacent string literals; in a narrow one each byte is a character."""
    wide = any(part[:1] in "LU" or (part[:1] == "u" and part[1:2] != "8") for part in parts)
    text = "".join([_inner(part, wide=wide) for part in parts])
    if len(text) > TEXT_MAX:
        return ["s", text[:TEXT_MAX], wide, len(text)]
    return ["s", text, wide]


def _inner(literal: str, *, wide: bool) -> str:
    quote = literal.find('"')
    if literal[quote - 1 : quote] == "R":
        raw = RAW.search(literal)
        return _characters(raw[2], wide=wide) if raw else ""
    inner = literal[quote + 1 : -1] if literal[-1:] == '"' else literal[quote + 1 :]
    return _decoded(inner, wide=wide)


def _decoded(inner: str, *, wide: bool) -> str:
    if wide or not inner.isascii():
        inner = _characters(inner, wide=wide)
    return ESCAPE.sub(_escaped, inner) if "\\" in inner else inner


def _characters(text: str, *, wide: bool) -> str:
    return text.encode("latin-1").decode("utf-8", "replace") if wide and not text.isascii() else text


def _escaped(match: re.Match[str]) -> str:
    octal, hexadecimal, short, long, newline, other = match.groups()
    if other is not None:
        return SIMPLE.get(other, other)
    if newline is not None:
        return ""
    code = int(octal, 8) if octal else int((hexadecimal or short or long)[-8:], 16)
    return REPLACED if code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)
