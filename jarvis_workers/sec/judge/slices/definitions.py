"""Follow the names on some lines to their definitions: macros, types, global variables, and what these name in turn.

Of a long type only the members that are named are shown.  A definition under preprocessor conditions is shown with
them; one for another platform than Linux only if the lines are for another platform, too.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from jarvis_workers.sec.judge.slices.excerpt import SEARCHED_BYTES, Lines, lines_of, merged, names_on, size_of
from jarvis_workers.sec.judge.slices.index import CodeIndex, Used
from jarvis_workers.sec.judge.slices.places import CodeRange, SourceFile, masked_line

WHOLE_ROOM, MEMBERS_MAX, HEAD_LINES = 500, 12, 4
# Room for a type if there is room left in the question.
LARGE_ROOM = 4_000
DEPTH_MAX, NAMES_MAX = 3, 60
# What stands before a name that is declared on its line: a type, and perhaps other names.
CONSTANT = re.compile(rb"(?<!\w)[A-Z][A-Z0-9_]{2,}+(?![\w(])")
DECLARES = re.compile(rb"\s*+(?!(?:return|goto|else|case|delete|throw|new)\b)[A-Za-z_]\w*+[\s*&]([\w\s*&,]|\[[^]]*\])*")


class DefinitionLines(NamedTuple):
    """The lines of a definition to show, in one file."""

    file: SourceFile
    lines: tuple[Lines, ...]


def definitions(
    index: CodeIndex, file: SourceFile, place: CodeRange, focus: Sequence[int], whole: int = WHOLE_ROOM
) -> Iterator[DefinitionLines]:
    """Yield the definitions of the names on some lines of a function, then those of the names that these contain.

    A definition of more than `whole` characters is shown in part.
    """
    names = names_on(file, focus)
    waiting = deque((name, 0) for name in names if not _is_local(file, place, name))
    seen = {name for name, _ in waiting}
    elsewhere = any(file.conditions.is_elsewhere(line) for line in focus)
    while waiting and len(seen) < NAMES_MAX:
        name, depth = waiting.popleft()
        for used in index.meanings(name, file.path):
            if used.file.conditions.is_elsewhere(used.first) and not elsewhere:
                continue
            shown = _shown(used, names, whole)
            yield DefinitionLines(used.file, with_conditions(used, shown))
            if depth < DEPTH_MAX:
                new = [other for other in names_on(used.file, lines_of(shown)) if other not in seen]
                seen.update(new)
                waiting.extend((other, depth + 1) for other in new)


def constants(index: CodeIndex, file: SourceFile, lines: Iterable[int]) -> Iterator[DefinitionLines]:
    """Yield the short definitions of the names on some lines that are spelt like constants."""
    named = dict.fromkeys(name for line in lines for name in CONSTANT.findall(masked_line(file, line)[:SEARCHED_BYTES]))
    for name in islice(named, NAMES_MAX):
        for used in index.meanings(name, file.path):
            if size_of(used.file, [(used.first, used.last)]) <= WHOLE_ROOM:
                yield DefinitionLines(used.file, with_conditions(used, ((used.first, used.last),)))


def _is_local(file: SourceFile, place: CodeRange, name: bytes) -> bool:
    """Return whether a name is a parameter or a variable of a function, or a member that is used in it."""
    if place.function is None:
        return False
    text, shape = file.masked, re.compile(rb"(?<!\w)" + re.escape(name) + rb"(?!\w)")
    if given := shape.search(text, *place.function.parameters):
        return _is_declared_at(file, given.end())
    first = shape.search(text, *place.function.body)
    if first is None:
        return False
    if text[max(0, first.start() - 2) : first.start()].endswith((b"->", b".")):
        return True
    before = text[text.rfind(b"\n", 0, first.start()) + 1 : first.start()]
    return DECLARES.fullmatch(before) is not None and _is_declared_at(file, first.end())


def _is_declared_at(file: SourceFile, end: int) -> bool:
    """Return whether a name that ends here in a declaration is what it declares, rather than its type."""
    behind = file.masked[end : end + 80].lstrip()
    return behind.startswith(b":") if file.language == "rust" else not re.match(rb"[*&\s]*\w", behind)


def _shown(used: Used, names: Sequence[bytes], whole: int) -> tuple[Lines, ...]:
    """Return the lines of a definition: all, or its first and last ones and those that contain one of the names."""
    first, last = used.first, used.last
    if size_of(used.file, [(first, last)]) <= whole:
        return ((first, last),)
    shape = re.compile(rb"\b(?:" + b"|".join(map(re.escape, names)) + rb")\b")
    members = [line for line in range(first + 1, last) if shape.search(masked_line(used.file, line))][:MEMBERS_MAX]
    head = first + (0 if members else HEAD_LINES)
    return tuple(merged([(first, min(head, last)), *((line, line) for line in members), (last, last)]))


def with_conditions(used: Used, shown: tuple[Lines, ...]) -> tuple[Lines, ...]:
    directives = [(line, line) for condition in used.file.conditions.at(used.first) for line in condition.lines]
    return tuple(merged([*directives, *shown]))
