"""The types, macros, global variables and short functions that the pieces of a group name but do not define.

They are shown below the files, since reading them later costs a whole further request: those that are named most often
come first, and then what they name in turn.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from jarvis_workers.sec.judge.slices import CodeIndex, SourceFile
from jarvis_workers.sec.judge.slices.definitions import with_conditions
from jarvis_workers.sec.judge.slices.excerpt import Lines, merged
from jarvis_workers.sec.judge.slices.index import Used
from jarvis_workers.sec.judge.slices.keywords import KEYWORD_BYTES
from jarvis_workers.sec.judge.slices.places import offsets_of
from jarvis_workers.sec.reading.numbered_code import shown_lines

NAME = re.compile(rb"(?<!\w)[A-Za-z_]\w{1,80}+")
# Of a group, the lines of one of them that are shown, and those of a function that is short.
DEFINITIONS_MAX, LINES_MAX, SHORT_MAX = 400, 60, 12


class PlacedLines(NamedTuple):
    """Lines of a file."""

    file: SourceFile
    first: int
    last: int


def outside_definitions(index: CodeIndex, pieces: Sequence[PlacedLines], room: int) -> str:
    """Return the definitions for which there is room, below the names of their files; empty if there are none."""
    chosen: defaultdict[str, list[Lines]] = defaultdict(list)
    for used in _definitions(index, pieces):
        shown = with_conditions(used, ((used.first, min(used.last, used.first + LINES_MAX)),))
        spans = merged([*chosen[used.file.path], *shown])
        cost = _tokens(used.file, spans) - _tokens(used.file, chosen[used.file.path])
        if cost <= room:
            room -= cost
            chosen[used.file.path] = spans
    return "\n".join(chain.from_iterable(_part(index, path, spans) for path, spans in sorted(chosen.items()) if spans))


def _tokens(file: SourceFile, spans: Sequence[Lines]) -> int:
    return sum(line.tokens for span in spans for line in shown_lines(file, *span))


def _part(index: CodeIndex, path: str, spans: Sequence[Lines]) -> list[str]:
    file = index.file(path)
    return [f"{path}:", *(line.text for span in spans for line in shown_lines(file, *span))] if file else []


def _definitions(index: CodeIndex, pieces: Sequence[PlacedLines]) -> Iterator[Used]:
    """Yield the definitions outside of the pieces, each once."""
    near: dict[bytes, str] = {}
    count: Counter[bytes] = Counter()
    for piece in pieces:
        for name in _names(piece.file, piece.first, piece.last):
            near.setdefault(name, piece.file.path)
            count[name] += 1
    waiting = deque(sorted(count, key=lambda name: (-count[name], name)))
    places = set[tuple[str, int]]()
    while waiting and len(places) < DEFINITIONS_MAX:
        name = waiting.popleft()
        for used in (*index.meanings(name, near[name]), *(_short(index, name, near[name]) if name in count else ())):
            place = used.file.path, used.first
            if place in places or any(_contains(piece, used) for piece in pieces):
                continue
            places.add(place)
            yield used
            for other in _names(used.file, used.first, used.last):
                if other not in near:
                    near[other] = used.file.path
                    waiting.append(other)


def _short(index: CodeIndex, name: bytes, near: str) -> Iterator[Used]:
    """Yield the function that a name refers to if it is short."""
    if definition := index.definition(name, near):
        file, place = definition
        if place.last - place.first < SHORT_MAX:
            yield Used(file, place.first, place.last)


def _names(file: SourceFile, first: int, last: int) -> Iterator[bytes]:
    keywords = KEYWORD_BYTES[file.language]
    return (name for name in NAME.findall(file.masked, *offsets_of(file, first, last)) if name not in keywords)


def _contains(piece: PlacedLines, used: Used) -> bool:
    return piece.file.path == used.file.path and piece.first <= used.first <= piece.last
