"""Extract the code relevant to a question: its functions, the trace, callers, callees and definitions.

The most important parts come first and are shortened least; parts that do not fit are omitted and counted.  Lines are
numbered within their place (`places`), so that the text does not depend on the position of the code in its file.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

from jarvis_workers.agent.untrusted_text import Suspicion
from jarvis_workers.sec.judge.slices.index import CodeIndex
from jarvis_workers.sec.judge.slices.places import CodeRange, SourceFile, View
from jarvis_workers.tools.reading import short_line

Role = Literal["code", "way", "caller", "callee", "definition"]

# Characters of code, about three to a token.
ROOM = 24_000
SHARE_OF_CODE = 0.6
WHOLE = {"code": 160, "way": 60, "callee": 40}
HEAD_LINES = 4
AROUND = {"code": 24, "way": 8, "caller": 6, "callee": 0, "definition": 0}
NARROW = 5
# Lines above a function that may contain comments on it.
ABOVE = 100
CALLEES, CALLERS, DEFINITIONS, NAMES = 8, 3, 12, 400
DEFINITION_LINES = 40
LINE_COST = 8
CALLED = re.compile(rb"\b([A-Za-z_]\w*+)\s*+\(")
NAME = re.compile(rb"\b[A-Za-z_]\w*+")

Lines = tuple[int, int]


class SliceTarget(NamedTuple):
    """A line in question, and the trace of lines (file, line) that leads to it."""

    file: str
    line: int
    way: tuple[tuple[str, int], ...] = ()


@dataclass
class SlicePart:
    """Some lines of one named range of a file."""

    file: SourceFile
    place: CodeRange
    role: Role
    lines: list[Lines] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.file.path}#{self.place.name}"

    def looked_at(self) -> Iterator[Lines]:
        """Yield the lines to search for prompt injections: a function and the text above it, or the lines shown."""
        if self.place.function is None:
            yield from self.lines
            return
        first = self.place.first
        above = self.file.at(first - 1)
        yield (first if above.function else max(above.first, first - ABOVE)), self.place.last

    def text(self, view: View = "decided") -> str:
        """Return the lines, numbered from the first of the place, with a note for each gap."""
        of_file = self.file.lines(view)
        count = self.place.last - self.place.first + 1
        shown = [f"{self.name}: {count} lines"]
        behind = self.place.first
        for first, last in self.lines:
            if first > behind:
                shown.append(f"       [{first - behind} lines omitted]")
            for line in range(first, last + 1):
                shown.append(f"{line - self.place.first + 1:>5}| {short_line(of_file[line - 1])}".rstrip())
            behind = last + 1
        if behind <= self.place.last:
            shown.append(f"       [{self.place.last - behind + 1} lines omitted]")
        return "\n".join(shown)


@dataclass(frozen=True)
class Slice:
    """Parts of the code, the most important first; `left_out` counts the parts that did not fit."""

    parts: tuple[SlicePart, ...]
    left_out: int = 0

    def suspicions(self) -> list[Suspicion]:
        """Return the prompt injections in and around the parts, including text that no view shows."""
        result = [one for part in self.parts for lines in part.looked_at() for one in part.file.suspicions(*lines)]
        return list(dict.fromkeys(result))


def cut(index: CodeIndex, spots: Sequence[SliceTarget], room: int = ROOM) -> Slice:
    """Return the slice of a tree for a question about some of its lines."""
    cutting = _Cutting(room)
    own = _own(index, spots)
    share = int(room * SHARE_OF_CODE) // max(1, len({(file.path, place) for file, place, _ in own}))
    for file, place, line in own:
        cutting.add(file, place, "code", _around(file, place, line, "code", share))
    for spot in spots:
        for path, line in spot.way:
            if on_the_way := index.file(path):
                place = on_the_way.at(line)
                cutting.add(on_the_way, place, "way", _around(on_the_way, place, line, "way", share))
    functions = list(dict.fromkeys((file, place) for file, place, _ in own if place.function))
    for file, place in functions:
        _add_callers(cutting, index, file, place)
    for file, place in functions:
        _add_callees(cutting, index, file, place, [line for one, _, line in own if one is file])
    for file, place in functions:
        _add_definitions(cutting, index, file, place)
    return Slice(tuple(cutting.parts.values()), cutting.left_out)


class _Cutting:
    """The parts collected so far, and the number of characters that remain."""

    def __init__(self, room: int) -> None:
        self.parts: dict[tuple[str, str], SlicePart] = {}
        self.left_out = 0
        self._room = room

    def add(self, file: SourceFile, place: CodeRange, role: Role, lines: Lines) -> bool:
        """Add lines of a place and return whether they fit; the code in question is always added."""
        key = (file.path, place.name)
        part = self.parts.get(key) or SlicePart(file, place, role)
        missing = sum(len(file.decided[line - 1]) + LINE_COST for line in _missing(part.lines, lines))
        if missing > self._room and role != "code":
            self.left_out += 1
            return False
        self._room -= missing
        part.lines = _merged([*part.lines, lines])
        self.parts[key] = part
        return True


def _own(index: CodeIndex, spots: Iterable[SliceTarget]) -> list[tuple[SourceFile, CodeRange, int]]:
    result = []
    for spot in spots:
        if file := index.file(spot.file):
            line = min(max(1, spot.line), len(file.raw))
            result.append((file, file.at(line), line))
    return result


def _around(file: SourceFile, place: CodeRange, line: int, role: Role, room: int) -> Lines:
    """Return the lines of a place to show: all of them, or a range around one line."""
    whole = (place.first, place.last)
    if place.function and place.last - place.first < WHOLE.get(role, 0) and _size(file, whole) <= room:
        return whole
    for reach in (AROUND[role], NARROW, 1):
        lines = (max(place.first, line - reach), min(place.last, line + reach))
        if _size(file, lines) <= room:
            return lines
    return line, line


def _size(file: SourceFile, lines: Lines) -> int:
    return sum(len(file.decided[line - 1]) + LINE_COST for line in range(lines[0], lines[1] + 1))


def _add_callers(cutting: _Cutting, index: CodeIndex, file: SourceFile, place: CodeRange) -> None:
    for call in islice(index.callers(file, place), CALLERS):
        caller = call.file.at(call.first)
        lines = _around(call.file, caller, call.first, "caller", ROOM)
        if cutting.add(call.file, caller, "caller", lines):
            cutting.add(call.file, caller, "caller", _head(caller))


def _add_callees(cutting: _Cutting, index: CodeIndex, file: SourceFile, place: CodeRange, spots: list[int]) -> None:
    assert place.function is not None
    start, end = place.function.body
    calls = [(file.line_of(call.start()), call[1]) for call in CALLED.finditer(file.masked, start, end)]
    near = sorted(calls, key=lambda call: min(abs(call[0] - line) for line in spots))
    count = 0
    for name in list(dict.fromkeys(name for _, name in near if name != place.function.name))[:NAMES]:
        if count == CALLEES:
            break
        if definition := index.definition(name, file.path):
            other, callee = definition
            most = min(callee.last, callee.first + WHOLE["callee"] - 1)
            count += cutting.add(other, callee, "callee", (callee.first, most))


def _add_definitions(cutting: _Cutting, index: CodeIndex, file: SourceFile, place: CodeRange) -> None:
    assert place.function is not None
    text = file.masked[place.function.start : place.function.body[1]]
    count = 0
    for name in list(dict.fromkeys(NAME.findall(text)))[:NAMES]:
        if count == DEFINITIONS:
            break
        if used := index.meaning(name, file.path):
            for where, lines in _by_place(used.file, used.first, min(used.last, used.first + DEFINITION_LINES - 1)):
                count += cutting.add(used.file, where, "definition", lines)


def _by_place(file: SourceFile, first: int, last: int) -> Iterator[tuple[CodeRange, Lines]]:
    """Split a range of lines by place."""
    while first <= last:
        place = file.at(first)
        yield place, (first, min(last, place.last))
        if place.last < first:
            return
        first = place.last + 1


def _head(place: CodeRange) -> Lines:
    return place.first, min(place.last, place.first + HEAD_LINES - 1)


def _missing(excerpts: Iterable[Lines], lines: Lines) -> Iterator[int]:
    return (
        line for line in range(lines[0], lines[1] + 1) if not any(first <= line <= last for first, last in excerpts)
    )


def _merged(spans: list[Lines]) -> list[Lines]:
    merged: list[Lines] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged
