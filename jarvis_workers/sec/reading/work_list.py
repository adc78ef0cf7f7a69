"""What a reader wants to see next (`look_at`): which places of the tree it names, and which of them others look at.

A place is whole functions, or a whole file, so that all who name a line of a function name one place. What readers see
in any case is no place to look at: there, circles end.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from jarvis_workers.paths import leaves_the_root
from jarvis_workers.sec.judge.slices import CodeIndex, SourceFile, is_source
from jarvis_workers.sec.reading.numbered_code import shown_lines

# The places that a reader passes on, and the tokens of one: about 200 lines. Further names are not looked up.
PLACES_MAX, PLACE_TOKENS, NAMES_MAX = 4, 2_500, 100
NAMED = re.compile(
    r"`?(?P<path>[^#:\s`()]+)(?:#(?P<function>[^\s:`()]+))?(?:\(\))?(?::(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?)?`?"
)
ABSENT = "this tree has no such code"
TOO_MANY = f"a reader passes on at most {PLACES_MAX} places"
TOO_DEEP = "what is read only because of such a request leads to no further one"
TOO_LARGE = "it has about {tokens:,} tokens; at most {most:,} of a place are passed on"


class PlaceToRead(NamedTuple):
    """Lines of a file."""

    path: str
    first: int
    last: int


class WorkList(NamedTuple):
    """The places that other readers look at, and the names of those that none looks at, each with the reason."""

    places: tuple[PlaceToRead, ...]
    left_out: tuple[tuple[str, str], ...]


def work_list(
    index: CodeIndex,
    names: Iterable[str],
    near: str,
    is_read: Callable[[PlaceToRead], bool],
    *,
    room: int,
    most: int = PLACES_MAX,
) -> WorkList:
    """Return what becomes of the places that a reader of the file `near` names; those that are read are left out."""
    places, left_out, room = list[PlaceToRead](), dict[str, str](), min(room, PLACE_TOKENS)
    for number, name in enumerate(names):
        place = find_place(index, name, near) if number < NAMES_MAX else None
        if place is None:
            left_out[name] = ABSENT if number < NAMES_MAX else TOO_MANY
        elif is_read(place) or place in places:
            continue
        elif len(places) >= most:
            left_out[name] = TOO_MANY if most else TOO_DEEP
        elif (tokens := _tokens(index, place)) > room:
            left_out[name] = TOO_LARGE.format(tokens=tokens, most=room)
        else:
            places.append(place)
    return WorkList(tuple(places), tuple(left_out.items()))


def find_place(index: CodeIndex, name: str, near: str) -> PlaceToRead | None:
    """Return the place that a reader names: FILE#FUNCTION, FILE:LINE, FILE:FIRST-LAST, FILE, or FUNCTION."""
    match = NAMED.fullmatch(name.strip())
    if match is None:
        return None
    file = _file(index, match["path"])
    if file is None:
        return None if match["function"] or match["first"] else _function(index, match["path"], near)
    if match["function"]:
        place = file.named(match["function"])
        return PlaceToRead(file.path, place.first, place.last) if place else None
    count = len(file.decided)
    first = int(match["first"] or 1)
    last = int(match["last"] or match["first"] or count)
    if not 1 <= first <= min(last, count):
        return None
    return PlaceToRead(file.path, file.at(first).first, file.at(min(last, count)).last)


def _function(index: CodeIndex, name: str, near: str) -> PlaceToRead | None:
    defined = index.definition(name.encode("utf-8", "backslashreplace"), near)
    return PlaceToRead(defined[0].path, defined[1].first, defined[1].last) if defined else None


def _file(index: CodeIndex, path: str) -> SourceFile | None:
    """Return a source file by its path, or by the end of a path that no other file has."""
    path = path.removeprefix("./")
    if not is_source(path) or leaves_the_root(path.encode("utf-8", "backslashreplace")):
        return None
    if file := index.file(path):
        return file
    others = index.paths_ending(path)
    return index.file(others[0]) if len(others) == 1 else None


def _tokens(index: CodeIndex, place: PlaceToRead) -> int:
    file = index.file(place.path)
    return sum(line.tokens for line in shown_lines(file, place.first, place.last)) if file else 0
