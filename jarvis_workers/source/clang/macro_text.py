"""The source text of cursors, and the text of the macros that generate them."""

from collections.abc import Iterator
from functools import cached_property

from jarvis_workers.source.clang.kinds import CursorKind
from jarvis_workers.source.clang.libclang import Cursor, children, library, place, raw
from jarvis_workers.source.clang.macros import IDENTIFIER
from jarvis_workers.source.clang.translation_unit import TranslationUnit

# Maximum number of macros to follow from one macro.
MAX_MACROS = 200


class ExpansionText:
    def __init__(self, unit: TranslationUnit) -> None:
        self._unit = unit

    def of(self, cursor: Cursor) -> bytes:
        """Return the text of a cursor, or of the macro expansion that contains it."""
        extent = library().clang_getCursorExtent(cursor)
        begin, end = place(library().clang_getRangeStart(extent)), place(library().clang_getRangeEnd(extent))
        return self._unit.contents(begin.file)[begin.offset : end.offset] if begin.file is not None else b""

    def from_written(self, cursor: Cursor, length: int) -> bytes:
        """Return at most `length` bytes from the start of a cursor: in the file, or in the argument of a macro."""
        start = library().clang_getRangeStart(library().clang_getCursorExtent(cursor))
        written = place(start, "clang_getFileLocation")
        if written.file is None:
            return b""
        return self._unit.contents(written.file)[written.offset : written.offset + length]

    def of_macros(self, cursor: Cursor) -> Iterator[bytes]:
        """Yield the text of the macro whose expansion a cursor starts with, and of the macros that this macro uses."""
        macro = IDENTIFIER.match(self.of(cursor))
        remaining = [macro.group()] if macro else []
        seen = set(remaining)
        while remaining and len(seen) < MAX_MACROS:
            words = self._macros.get(remaining.pop(), b"")
            yield words
            names = {word for word in IDENTIFIER.findall(words) if word in self._macros} - seen
            seen |= names
            remaining.extend(sorted(names))

    @cached_property
    def _macros(self) -> dict[bytes, bytes]:
        """The text of each macro by name; the last of several definitions wins."""
        definitions = [one for one in children(self._unit.cursor) if one.kind == CursorKind.MACRO_DEFINITION]
        return {raw(library().clang_getCursorSpelling(cursor)): self.of(cursor) for cursor in definitions}
