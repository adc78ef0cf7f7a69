"""Which parts of a `for` are left out: libclang shows only those that are there, so its semicolons tell.

The header is read where `for` is written: in the file, in the argument of a macro, or in the text of a macro.
"""

import re
from collections.abc import Iterator
from functools import cached_property

from jarvis_workers.source.clang.kinds import CursorKind
from jarvis_workers.source.clang.libclang import Cursor, children, library, place, raw
from jarvis_workers.source.clang.macros import IDENTIFIER, OPAQUE
from jarvis_workers.source.clang.translation_unit import TranslationUnit

# Initialisation, condition and increment: whether each is there.
ForParts = tuple[bool, bool, bool]

FOR = re.compile(rb"\bfor\s*\(")
# A macro is searched through so many macros that it uses.
MAX_MACROS = 200
# Bytes of a header that are looked at.
MAX_HEADER = 10_000


class ForHeaders:
    def __init__(self, unit: TranslationUnit) -> None:
        self._unit = unit

    def parts(self, cursor: Cursor, count: int) -> ForParts | None:
        """Return which of the three parts a `for` has, of which `count` are there; None if that cannot be told."""
        if count in (0, 3):
            return (count == 3,) * 3
        start = library().clang_getRangeStart(library().clang_getCursorExtent(cursor))
        written, expanded = place(start, "clang_getFileLocation"), place(start)
        if written.file is None or expanded.file is None:
            return None
        words = self._unit.contents(written.file)
        if FOR.match(words, written.offset):
            candidates = {parts_of_header(words, written.offset)}
        else:
            macro = IDENTIFIER.match(self._unit.contents(expanded.file), expanded.offset)
            candidates = set(self._in_macros(macro.group())) if macro else set()
        fitting = {parts for parts in candidates if parts is not None and sum(parts) == count}
        return fitting.pop() if len(fitting) == 1 else None

    def _in_macros(self, name: bytes) -> Iterator[ForParts | None]:
        remaining, seen = [name], {name}
        while remaining and len(seen) < MAX_MACROS:
            words = self._macros.get(remaining.pop(), b"")
            yield from (parts_of_header(words, match.start()) for match in FOR.finditer(words))
            names = {word for word in IDENTIFIER.findall(words) if word in self._macros} - seen
            seen |= names
            remaining.extend(sorted(names))

    @cached_property
    def _macros(self) -> dict[bytes, bytes]:
        """The text of each macro by name; of several definitions the last."""
        macros = {}
        for cursor in children(self._unit.cursor):
            if cursor.kind == CursorKind.MACRO_DEFINITION:
                extent = library().clang_getCursorExtent(cursor)
                begin, end = place(library().clang_getRangeStart(extent)), place(library().clang_getRangeEnd(extent))
                if begin.file is not None:
                    words = self._unit.contents(begin.file)[begin.offset : end.offset]
                    macros[raw(library().clang_getCursorSpelling(cursor))] = words
        return macros


def parts_of_header(words: bytes, begin: int) -> ForParts | None:
    """Return the parts of the header of the `for` that begins there; None if it has no two semicolons."""
    opened = FOR.match(words, begin)
    if opened is None:
        return None
    depth, parts = 1, [False]
    text = OPAQUE.sub(
        lambda match: b"x" if match.group().startswith((b'"', b"'")) else b" ", words[opened.end() :][:MAX_HEADER]
    )
    for byte in text.replace(b"\\\n", b" "):
        character = chr(byte)
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(character, 0)
        if depth == 0:
            return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None
        if character == ";" and depth == 1:
            parts.append(False)
        elif not character.isspace():
            parts[-1] = True
    return None
