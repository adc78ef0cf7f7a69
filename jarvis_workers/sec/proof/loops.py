"""The loops of a function: what their conditions name, and the lines between their braces.

This reads text in which comments and literals are blank; a loop whose braces do not match is left out.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

KEYWORD = re.compile(r"\b(for|while|do)\b")
WHILE = re.compile(r"\s*while\s*(?=\()")
WORD = re.compile(r"[A-Za-z_]\w*")
CLOSING = {"(": ")", "{": "}", "[": "]"}


class Loop(NamedTuple):
    """A loop: the lines of its head and of its body, counted from 0, and the words of its head."""

    head: range
    body: range
    words: frozenset[str]


def loops_of(code: Sequence[str]) -> Iterator[Loop]:
    """Yield the loops with braces in the lines of a function."""
    text = "\n".join(code)
    for match in KEYWORD.finditer(text):
        first = _bracket(text, match.end())
        if match[1] == "do":
            tail = WHILE.match(text, first.stop) if first else None
            head, body = _bracket(text, tail.end()) if tail else range(0), first
        else:
            head, body = first, _bracket(text, first.stop) if first else range(0)
        if head and body and text[head.start] == "(" and text[body.start] == "{":
            words = frozenset(WORD.findall(text[head.start : head.stop]))
            yield Loop(_lines(text, head), _lines(text, body), words)


def indices_of(line: str, at: int) -> set[str]:
    """Return the words in the brackets that begin at a place of a line."""
    index = _bracket(line, at)
    if not index or line[index.start] != "[":
        return set()
    return {*WORD.findall(line[index.start : index.stop]), *indices_of(line, index.stop)}


def _bracket(text: str, at: int) -> range:
    """Return where the bracket is that opens behind white space, with its contents; empty without one that closes."""
    start = at + len(text[at:]) - len(text[at:].lstrip())
    depth, first, last = 0, text[start : start + 1], CLOSING.get(text[start : start + 1])
    for place in range(start, len(text) if last else 0):
        depth += (text[place] == first) - (text[place] == last)
        if depth == 0:
            return range(start, place + 1)
    return range(0)


def _lines(text: str, place: range) -> range:
    return range(text.count("\n", 0, place.start), text.count("\n", 0, place.stop) + 1)
