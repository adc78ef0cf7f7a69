"""Locate functions, the classes around them, and the declarations outside of them.

All three come from one pass over the braces and semicolons between functions of a masked text.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from jarvis_workers.source.functions import Function
from jarvis_workers.source.lex import LOGICAL_LINE

HEAD_MAX = 1_024
QUALIFIERS_MAX = 160
MARK = re.compile(rb"[;{}]")
EDGES = (b";", b"}", b"{")
ACCESS = re.compile(rb"\b(?:public|private|protected|[Qq]_?SIGNALS|signals|slots)[\w\s]{0,20}:(?!:)")
QUALIFIED = re.compile(rb"((?:\w+\s*(?:<[^<>]{0,80}>)?\s*::\s*)+)\Z")
LAST_QUALIFIER = re.compile(rb"(\w+)\s*(?:<[^<>]*>)?\s*::\s*\Z")
LINE = re.compile(LOGICAL_LINE)
OPEN_CONTAINER = re.compile(rb"\s*(?:inline\s+)?(?:namespace\b|extern\s*\"[^\"]*\"\s*\Z)")
NAMESPACE = re.compile(rb"namespace\s+(?:\w+\s*::\s*)*(\w+)")
INITIALIZER = re.compile(rb"[:,]\s*\w+\s*\{\Z")
MORE_INITIALIZERS = re.compile(
    rb"\}(?>\s*+,\s*+\w++\s*+(?:\([^(){};]*+(?>\([^(){};]*+\)[^(){};]*+)*+\)|\{[^{};]*+\}))*+\s*+\{"
)
NAME = re.compile(rb"\w+")
BRACE = re.compile(rb"[{}]")
CLASS = re.compile(rb"\b(?:class|struct|union)\b([^;{}()=]*)\Z")
BASES = re.compile(rb"(?<!:):(?!:)")


class FunctionPlace(NamedTuple):
    """A function with the start of its declaration, and the class that it belongs to, or b""."""

    function: Function
    start: int
    owner: bytes


class Places(NamedTuple):
    """`outside` are the declarations outside of functions, each in parts; the last part ends at its `;`."""

    functions: list[FunctionPlace]
    outside: list[list[tuple[int, int]]]


class _BraceScan:
    """Scan state: open braces with their classes, and the parts of the current declaration."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.open: list[bytes] = []
        self.depth = 0
        self.parts: list[tuple[int, int]] = []
        self.since = 0
        self.edge = 0
        self.outside: list[list[tuple[int, int]]] = []
        self.namespaces: set[bytes] = set()
        self.holds = False
        self.patience = len(text)

    def gap(self, start: int, end: int) -> None:
        """Scan the text between two functions."""
        self.since = self.edge = start
        for mark in MARK.finditer(self.text, start, end):
            place = mark.start()
            self._at(place, self.text[place])
            self.edge = place + 1
        self.parts.append((self.since, end))

    def owner(self) -> bytes:
        return self.open[-1] if self.open else b""

    def whole(self, text: bytes, function: Function) -> Function:
        """Return the function with its real body, if the `{` of a member initializer was mistaken for the body."""
        start, end = function.body
        more = MORE_INITIALIZERS.match(text, end, end + HEAD_MAX)
        if more is None or INITIALIZER.search(text, function.parameters[1], start) is None:
            return function
        depth = 1
        for brace in BRACE.finditer(text, more.end()):
            depth += 1 if brace[0] == b"{" else -1
            self.patience -= 1
            if depth == 0:
                return function._replace(body=(more.end(), brace.start()))
            if self.patience < 0:
                break
        return function

    def _at(self, place: int, mark: int) -> None:
        if mark == 123:
            self._opens(place)
        elif mark == 125:
            self._closes(place)
        elif self.depth == 0:
            self.parts.append((self.since, place + 1))
            self.outside.append(self.parts)
            self.anew(place)

    def anew(self, place: int) -> None:
        self.parts, self.since, self.holds = [], place + 1, False

    def _opens(self, place: int) -> None:
        head = self.text[max(self.edge, place - HEAD_MAX) : place]
        if self.depth == 0 and OPEN_CONTAINER.match(head):
            if match := NAMESPACE.search(head):
                self.namespaces.add(match[1])
            self.anew(place)
            return
        match = CLASS.search(head)
        self.open.append(_class_name(match[1]) if match else self.owner())
        self.depth += 1
        self.holds = self.holds or match is not None or b"=" in head or b"enum" in head or b"typedef" in head

    def _closes(self, place: int) -> None:
        if self.depth == 0:
            self.anew(place)
            return
        self.open.pop()
        self.depth -= 1
        if self.depth == 0 and not self.holds:
            self.anew(place)


def places(text: bytes, code: bytes, functions: Iterable[Function]) -> Places:
    """Return the functions and the declarations outside of them; `code` is the text without directives."""
    walk = _BraceScan(code)
    result: list[FunctionPlace] = []
    behind = 0
    for given in functions:
        if given.start < behind:
            continue
        function = walk.whole(text, given)
        start = _beginning(text, function.start, behind)
        walk.gap(behind, start)
        if walk.depth == 0:
            walk.anew(start)
        result.append(FunctionPlace(function, start, _qualifier(text, start, function, walk) or walk.owner()))
        behind = min(function.body[1] + 1, len(text))
    walk.gap(behind, len(text))
    return Places(result, walk.outside)


def _class_name(head: bytes) -> bytes:
    """Return the name in the text between `class` and `{`."""
    before = BASES.split(head, maxsplit=1)[0].partition(b"<")[0]
    words = [word for word in NAME.findall(before) if word != b"final"]
    return words[-1] if words else b""


def _beginning(text: bytes, name: int, floor: int) -> int:
    """Return the start of the declaration that contains a function's name."""
    start = max(floor, name - HEAD_MAX)
    for edge in EDGES:
        offset = text.rfind(edge, start, name)
        start = offset + 1 if offset >= 0 else start
    at = text.rfind(b"#", start, name)
    while at > start and text[text.rfind(b"\n", start, at) + 1 : at].strip():
        at = text.rfind(b"#", start, at)
    if at >= 0:
        line = LINE.match(text, at, name)
        start = line.end() if line else start
    for label in ACCESS.finditer(text, start, name):
        start = label.end()
    return name - len(text[start:name].lstrip())


def _qualifier(text: bytes, start: int, function: Function, walk: _BraceScan) -> bytes:
    before = text[max(start, function.start - QUALIFIERS_MAX) : function.start]
    if b"::" not in before:
        return b""
    qualified = QUALIFIED.search(before)
    match = LAST_QUALIFIER.search(qualified[1]) if qualified else None
    return match[1] if match and match[1] not in walk.namespaces else b""
