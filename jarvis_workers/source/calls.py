"""Locate the arguments of C calls in masked text, and distinguish calls from declarations.

This is not a parser. Every lookaround is limited in bytes and in brackets, so the run time is bounded for any input.
"""

import re
from typing import NamedTuple

from jarvis_workers.source.c_tokens import SPLICE
from jarvis_workers.source.lazy_regex import lazy

REACH = 4_096
BRACKETS_MAX = 64
GAP = lazy(rb"(?>[ \t\r\n\f\v]|" + SPLICE + rb"){0,512}+\(")
BRACKET = lazy(rb"[][(){},;]")
PLAIN = re.compile(rb"\(([^][(){};]*+)\)")
SPACE = b" \t\r\n\f\v"
# Characters that may precede the name in a declaration: types, qualifiers, stars.
PREFIX = SPACE + b"*&_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
WORDS = lazy(rb"\w+")
EXPRESSION_WORDS = frozenset(
    b"return else do case throw goto sizeof typeof new delete and or not if while for switch co_return co_await "
    b"co_yield define".split()
)
ENDS_STATEMENT = frozenset(b';{}):">]')
# `const char *s`, `String text`, `char *`, `int`, or an empty list.
PARAMETERS = lazy(
    rb"""
    (?:\A|,)\s*+(?:const\b|volatile\b|struct\b|unsigned\b|register\b|\.\.\.\s*+\Z)
  | (?:\A|,)\s*+[A-Za-z_]\w*+(?>[\s*&]++\w++)++\s*+(?>\[[^\]]*+\]\s*+)?+(?=,|\Z)
  | (?:\A|,)\s*+[A-Za-z_]\w*+\s*+[*&][\s*&]*+(?=,|\Z)
  | (?:\A|,)\s*+(?:char|int|long|size_t|wchar_t)\s*+(?=,|\Z)
  | \A\s*+(?:void)?\s*+\Z
    """,
    re.VERBOSE,
)


class ArgumentList(NamedTuple):
    """The span of each argument; `end` is the offset after the closing parenthesis, None if it is too far away."""

    spans: tuple[tuple[int, int], ...]
    end: int | None


def opening(text: bytes, name_end: int) -> int | None:
    """Return the offset of the `(` that follows a name, or None."""
    if text.startswith(b"(", name_end):
        return name_end
    match = GAP.match(text, name_end)
    return match.end() - 1 if match else None


def arguments(text: bytes, at: int) -> ArgumentList:
    """Split the text between the `(` at `at` and the matching `)` into arguments."""
    if (plain := PLAIN.match(text, at, at + REACH)) and plain[1].count(b",") < BRACKETS_MAX:
        return _split(plain[1], at + 1)
    spans: list[tuple[int, int]] = []
    start, depth = at + 1, 1
    for count, match in enumerate(BRACKET.finditer(text, start, at + REACH)):
        bracket = match[0]
        if bracket in b"([{":
            depth += 1
        elif bracket in b")]}":
            depth -= 1
        elif depth == 1:
            if bracket == b";":
                break
            spans.append((start, match.start()))
            start = match.end()
        if depth == 0:
            if text[start : match.start()].strip():
                spans.append((start, match.start()))
            return ArgumentList(tuple(spans), match.end())
        if count >= BRACKETS_MAX:
            break
    return ArgumentList(tuple(spans), None)


def _split(expression: bytes, start: int) -> ArgumentList:
    """Split arguments that contain no brackets, which is the common case."""
    end = start + len(expression) + 1
    if b"," not in expression:
        return ArgumentList(((start, end - 1),) if expression.strip() else (), end)
    spans: list[tuple[int, int]] = []
    for part in expression.split(b","):
        spans.append((start, start + len(part)))
        start += len(part) + 1
    return ArgumentList(tuple(spans if part.strip() else spans[:-1]), end)


def is_foreign(text: bytes, start: int) -> bool:
    """Return whether the name at `start` is qualified: `o.system(`, `p->system(`, `Shell::system(`."""
    before = text[max(0, start - 256) : start].rstrip(SPACE)
    if before.endswith((b"->", b".")):
        return not before.endswith(b"...")
    if not before.endswith(b"::"):
        return False
    owner = re.search(rb"(\w*)\s*\Z", before[-64:-2])
    return owner is not None and owner[1] not in (b"", b"std")


def is_declaration(text: bytes, start: int, at: int, *, header: bool) -> bool:
    """Return whether the name at `start`, whose `(` is at `at`, is a prototype or definition rather than a call."""
    return (header or _follows_type(text, start)) and _has_parameters(text, at)


def _follows_type(text: bytes, start: int) -> bool:
    window = text[max(0, start - 256) : start]
    head = window.rstrip(PREFIX)
    line, edge = window[len(head) :], head[-1:]
    if edge == b"#":
        line = line.partition(b"\n")[2]
    elif edge and edge[0] not in ENDS_STATEMENT:
        return False
    words = WORDS.findall(line)
    return bool(words) and not EXPRESSION_WORDS.intersection(words)


def _has_parameters(text: bytes, at: int) -> bool:
    close = text.find(b")", at, at + REACH)
    return PARAMETERS.search(text[at + 1 : close if close >= 0 else at + REACH]) is not None
