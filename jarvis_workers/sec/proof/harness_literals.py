"""The literals in the source of a harness that may hold its input: strings, and lists of numbers and characters.

A shorter literal is a harness of its own: it must be checked, compiled and run like any other.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

CHARACTER = r"\\x[0-9A-Fa-f]+|\\[0-7]{1,3}|\\.|[^\"\\\n]"
ELEMENT = r"(?:0[xX][0-9A-Fa-f]+|\d+)[uUlL]*|'(?:[^'\\\n]|\\x[0-9A-Fa-f]+|\\[0-7]{1,3}|\\.)'"
# Comments, characters and directives are matched first, so that what is in them is no literal.
LITERAL = re.compile(
    rf"//[^\n]*|/\*.*?\*/|^[ \t]*\#[^\n]*|'(?:[^'\\\n]|\\.)+'|(?<!\w)\"(?P<string>(?:{CHARACTER})*)\""
    rf"|\{{\s*(?P<list>(?:{ELEMENT})(?:\s*,\s*(?:{ELEMENT}))*)\s*,?\s*\}}",
    re.DOTALL | re.MULTILINE,
)
HEX, OCTAL = re.compile(r"\\x([0-9A-Fa-f]{1,2})"), re.compile(r"\\([0-7]{1,2})")
HEX_DIGITS, OCTAL_DIGITS = frozenset("0123456789abcdefABCDEF"), frozenset("01234567")


class HarnessLiteral(NamedTuple):
    """A literal: where its content stands in the code, and its characters, or the elements of a list."""

    start: int
    end: int
    is_list: bool
    parts: tuple[str, ...]


def literals_of(code: str) -> list[HarnessLiteral]:
    """Return the literals of a harness in C, in order; shortening one does not change the number of any."""
    return list(_literals(code))


def with_parts(code: str, number: int, parts: Sequence[str]) -> str:
    """Return the code with other parts of a literal; a list keeps an element."""
    literal = literals_of(code)[number]
    text = ", ".join(parts or ["0"]) if literal.is_list else _joined(parts)
    return code[: literal.start] + text + code[literal.end :]


def _literals(code: str) -> Iterator[HarnessLiteral]:
    for match in LITERAL.finditer(code):
        for name, shape in (("string", CHARACTER), ("list", ELEMENT)):
            if (text := match[name]) is not None:
                parts = tuple(re.findall(shape, text))
                yield HarnessLiteral(match.start(name), match.end(name), name == "list", parts)


def _joined(parts: Sequence[str]) -> str:
    """Return the characters of a string, without an escape that takes in the next one."""
    return "".join(_ended(one, following) for one, following in pairwise([*parts, ""]))


def _ended(part: str, following: str) -> str:
    """Return a character as an escape of three octal digits, which is the longest, if it needs an end."""
    for shape, base, digits in ((HEX, 16, HEX_DIGITS), (OCTAL, 8, OCTAL_DIGITS)):
        if following in digits and (match := shape.fullmatch(part)):
            return f"\\{int(match[1], base):03o}"
    return part
