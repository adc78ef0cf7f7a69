"""Extract the code relevant to a question: its functions, the trace, callers, callees and definitions.

The most important parts come first and are shortened least; parts that do not fit are omitted and counted.  Room that
is left at the end is for what was shortened.  Lines are numbered within their place (`places`), so that the text does
not depend on the position of the code in its file.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Literal, NamedTuple

from jarvis_workers.agents.loop.untrusted_text import Suspicion
from jarvis_workers.agents.tools.reading import PADDING, short_line
from jarvis_workers.sec.judge.slices.definitions import LARGE_ROOM, constants, definitions
from jarvis_workers.sec.judge.slices.excerpt import (
    Lines,
    beginning,
    called_on,
    excerpt,
    lines_of,
    mentions,
    merged,
    size_of,
    statement,
    variables_on,
)
from jarvis_workers.sec.judge.slices.index import CodeIndex, Used
from jarvis_workers.sec.judge.slices.places import CodeRange, SourceFile, View

Role = Literal["code", "way", "caller", "callee", "definition"]

# Characters of code, about three to a token, and the share of each role; that of the trace is for each function on it.
ROOM = 24_000
SHARES: dict[Role, float] = {"code": 0.3, "way": 0.06, "caller": 0.1, "callee": 0.1, "definition": 0.08}
SHARE_MIN = 400
# Room for one caller, for one callee, and for a callee of a callee.
CALLER_ROOM, CALLEE_ROOM, INNER_CALLEE_ROOM = 700, 1_200, 400
# Calls that are shown with the lines around them; more are shown alone.
CALLERS, CALLEES, DEFINITIONS = 3, 6, 12
CALLER_REACH, WAY_REACH = 4, 16
MENTIONS = 12
# Lines above a function that may contain comments on it.
ABOVE = 100
# What a function that is shown whole leaves for the constants and types that it names.
RESERVE = 2_000
CONDITION_MAX = 100
ACTION = "an action of a grammar, which its parser or scanner runs"


class SliceTarget(NamedTuple):
    """A line in question, and the trace of lines (file, line) that leads to it."""

    file: str
    line: int
    way: tuple[tuple[str, int], ...] = ()


@dataclass
class SlicePart:
    """Some lines of one named range of a file; `uses` states how many of the calls of a function are shown."""

    file: SourceFile
    place: CodeRange
    role: Role
    lines: list[Lines] = field(default_factory=list)
    uses: str = ""

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
        """Return the lines, numbered from the first of the place, without blank ones, and with a note for each gap."""
        of_file = self.file.lines(view)
        shown = [self._title()]
        behind = self.place.first
        for first, last in self.lines:
            if self.role != "definition" or behind > self.place.first:
                shown += self._gap(of_file, behind, first - 1)
            for line in range(first, last + 1):
                if code := PADDING.sub("", short_line(of_file[line - 1])).rstrip():
                    shown.append(f"{line - self.place.first + 1}| {code}")
            behind = last + 1
        if self.role != "definition":
            shown += self._gap(of_file, behind, self.place.last)
        return "\n".join(shown)

    def _title(self) -> str:
        notes = [f"{self.place.last - self.place.first + 1} lines"]
        if self.place.function and (conditions := self.file.conditions.at(self.place.first)):
            lines = (self.file.decided[line - 1].strip() for condition in conditions for line in condition.lines)
            notes.append("compiled under " + ", ".join(line[:CONDITION_MAX] for line in lines))
        return "; ".join([f"{self.name}: {notes[0]}", *notes[1:], *filter(None, [self.uses])])

    def _gap(self, of_file: Sequence[str], first: int, last: int) -> list[str]:
        count = sum(bool(line.strip()) for line in of_file[first - 1 : last])
        return [f"[{count} line{'s' if count > 1 else ''} omitted]"] if count else []


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
    own = list(_by_place(index, ((spot.file, spot.line) for spot in spots)))
    steps = list(_by_place(index, (step for spot in spots for step in spot.way)))
    on_the_way = {(file.path, place): lines for file, place, lines in steps}
    shares = {role: max(SHARE_MIN, int(room * share) // max(1, len(own))) for role, share in SHARES.items()}
    shares["way"] = int(room * SHARES["way"])
    parts = []
    for file, place, lines in own:
        focus = list(dict.fromkeys((*lines, *on_the_way.get((file.path, place), ()))))
        parts.append((cutting.own(file, place, excerpt(file, place, focus, shares["code"])), focus))
    for file, place, lines in steps:
        cutting.add(file, place, "way", excerpt(file, place, lines, shares["way"], WAY_REACH))
    functions = [(part, focus) for part, focus in parts if part.place.function]
    for part, _ in functions:
        _add_uses(cutting, index, part, shares["caller"])
    relevant = [(part, _relevant_lines(part, focus)) for part, focus in functions]
    for part, lines in relevant:
        _add_callees(cutting, index, part, lines, shares["callee"])
    for part, lines in relevant:
        _add_definitions(cutting, index, part, lines, shares["definition"])
    _fill(cutting, index, relevant)
    return Slice(tuple(cutting.parts.values()), cutting.left_out)


class _Cutting:
    """The parts collected so far, and the number of characters that remain."""

    def __init__(self, room: int) -> None:
        self.parts: dict[tuple[str, str], SlicePart] = {}
        self.left_out = 0
        self._room = room

    def own(self, file: SourceFile, place: CodeRange, lines: Iterable[Lines]) -> SlicePart:
        """Add lines of the code in question, even if there is no room."""
        part = self._part(file, place, "code")
        self._room -= self._grow(part, lines)
        return part

    def add(self, file: SourceFile, place: CodeRange, role: Role, lines: Iterable[Lines], share: int = ROOM) -> int:
        """Add lines of a place and return their size, or -1 if they do not fit."""
        part = self._part(file, place, role)
        wider = merged([*part.lines, *lines])
        size = size_of(file, wider) - size_of(file, part.lines)
        if size > min(self._room, share):
            self.left_out += role != "caller"
            return -1
        self._room -= self._grow(part, wider)
        return size

    def widen(self, file: SourceFile, place: CodeRange, role: Role, lines: Iterable[Lines], reserve: int = 0) -> None:
        """Add lines of a place if there is room, beside a reserve."""
        part = self._part(file, place, role)
        wider = merged([*part.lines, *lines])
        if size_of(file, wider) - size_of(file, part.lines) <= self._room - reserve:
            self._room -= self._grow(part, wider)

    def _part(self, file: SourceFile, place: CodeRange, role: Role) -> SlicePart:
        return self.parts.get((file.path, place.name)) or SlicePart(file, place, role)

    def _grow(self, part: SlicePart, lines: Iterable[Lines]) -> int:
        before = size_of(part.file, part.lines)
        part.lines = merged([*part.lines, *lines])
        self.parts[part.file.path, part.place.name] = part
        return size_of(part.file, part.lines) - before


Focus = tuple[SourceFile, CodeRange, list[int]]


def _by_place(index: CodeIndex, lines: Iterable[tuple[str, int]]) -> Iterator[Focus]:
    """Yield the places of some lines, each once, with its lines; lines that cannot be read are skipped."""
    found: dict[tuple[str, CodeRange], Focus] = {}
    for path, line in lines:
        if file := index.file(path):
            at = min(max(1, line), len(file.raw))
            place = file.at(at)
            found.setdefault((path, place), (file, place, []))[2].append(at)
    yield from found.values()


def _relevant_lines(part: SlicePart, focus: Sequence[int]) -> list[int]:
    """Return the lines in question, then those that declare, check or change what they name."""
    file, place = part.file, part.place
    own = lines_of(statement(file, place, line) for line in focus)
    more = mentions(file, place, focus, variables_on(file, own))[:MENTIONS]
    return list(dict.fromkeys((*own, *more)))


def _add_uses(cutting: _Cutting, index: CodeIndex, part: SlicePart, room: int) -> None:
    """Add the calls of a function, and the places that take its address; state how many are shown."""
    if part.place.function and part.place.function.is_action:
        part.uses = ACTION
        return
    uses = index.uses(part.file, part.place)
    shown = {"call": 0, "address": 0}
    for count, (kind, used) in enumerate(_in_turn(uses.calls, uses.addresses)):
        caller = used.file.at(used.first)
        lines = [statement(used.file, caller, used.first)]
        if count < CALLERS:
            lines = excerpt(used.file, caller, lines_of(lines), min(CALLER_ROOM, room), CALLER_REACH)
        size = cutting.add(used.file, caller, "caller", lines, room)
        if size < 0:
            continue
        room -= size
        shown[kind] += 1
    more = "" if uses.is_complete else " or more"
    part.uses = "called from " + _counted(len(uses.calls), shown["call"], more)
    if uses.addresses:
        part.uses += "; its address is taken at " + _counted(len(uses.addresses), shown["address"], "")


def _in_turn(calls: Sequence[Used], addresses: Sequence[Used]) -> Iterator[tuple[str, Used]]:
    """Yield calls and addresses, beginning with one of each caller."""
    uses = [*(("call", used) for used in calls), *(("address", used) for used in addresses)]
    first = {(used.file.path, used.file.at(used.first).name): (kind, used) for kind, used in reversed(uses)}
    yield from (use for use in uses if use in first.values())
    yield from (use for use in uses if use not in first.values())


def _counted(count: int, shown: int, more: str) -> str:
    places = f"{count}{more} place{'s' if count != 1 or more else ''}"
    return places + (
        f", {shown} shown" if shown < count or more else ", shown" if count == 1 else ", all shown" if count else ""
    )


def _add_callees(cutting: _Cutting, index: CodeIndex, part: SlicePart, lines: Sequence[int], room: int) -> None:
    """Add the functions called on the relevant lines, each from its beginning, and short ones that these call."""
    waiting = deque((name, part.file.path, 1) for name in called_on(part.file, lines))
    seen = {part.place.name.encode("utf-8", "backslashreplace")}
    count = 0
    while waiting and count < CALLEES:
        name, near, depth = waiting.popleft()
        definition = None if name in seen else index.definition(name, near)
        seen.add(name)
        if definition is None:
            continue
        file, place = definition
        span = beginning(file, place, min(CALLEE_ROOM, room))
        if depth > 1 and (span[1] < place.last or size_of(file, [span]) > INNER_CALLEE_ROOM):
            continue
        size = cutting.add(file, place, "callee", [span], room)
        room -= max(size, 0)
        count += size >= 0
        if size >= 0 and depth == 1:
            waiting.extend((inner, file.path, depth + 1) for inner in called_on(file, lines_of([span])))


def _add_definitions(cutting: _Cutting, index: CodeIndex, part: SlicePart, lines: Sequence[int], room: int) -> None:
    """Add the definitions of the names on the relevant lines."""
    for count, (file, spans) in enumerate(definitions(index, part.file, part.place, lines)):
        if count == DEFINITIONS:
            return
        for place, of_place in _places_of(file, spans):
            room -= max(cutting.add(file, place, "definition", of_place, room), 0)


def _fill(cutting: _Cutting, index: CodeIndex, relevant: Sequence[tuple[SlicePart, Sequence[int]]]) -> None:
    """Spend the room that is left: show the functions in question whole, then constants and types that they name."""
    for part, _ in relevant:
        cutting.widen(part.file, part.place, "code", [(part.place.first, part.place.last)], RESERVE)
    for part, lines in relevant:
        of_constants = constants(index, part.file, lines_of(part.lines))
        of_types = islice(definitions(index, part.file, part.place, lines, LARGE_ROOM), DEFINITIONS)
        for file, spans in chain(of_constants, of_types):
            for place, of_place in _places_of(file, spans):
                cutting.widen(file, place, "definition", of_place)


def _places_of(file: SourceFile, spans: Iterable[Lines]) -> Iterator[tuple[CodeRange, list[Lines]]]:
    """Yield lines of a file by place."""
    result: dict[CodeRange, list[Lines]] = {}
    for line in lines_of(spans):
        result.setdefault(file.at(line), []).append((line, line))
    yield from result.items()
