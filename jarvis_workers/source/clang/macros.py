"""The macros of a unit: definitions below the root, and their uses.

libclang records only expansions in the source text, so macros used by a macro are found by searching its definition.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from jarvis_workers.source.clang.declarations import ByteRange, Declarations, file_text
from jarvis_workers.source.clang.kinds import CursorKind
from jarvis_workers.source.clang.libclang import Cursor, children, library, place, raw, text
from jarvis_workers.source.clang.translation_unit import TranslationUnit
from jarvis_workers.source.clang.unit import Language, Reference, UnitSymbol

IDENTIFIER = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*")
# Strings, character constants and comments in the text of a macro, whose words are not identifiers.  An unclosed one
# extends to the end of the text, so that the search takes linear time.
OPAQUE = re.compile(
    rb'"(?>[^"\\]|\\.)*+(?:"|\\?\Z)'
    rb"|'(?>[^'\\]|\\.)*+(?:'|\\?\Z)|/\*.*?(?:\*/|\Z)|//[^\n]*",
    re.DOTALL,
)
# Maximum length of a signature; longer ones are truncated.
MAX_SIGNATURE = 300
# Maximum number of definitions from one expansion that are considered.
MAX_TOGETHER = 100


class MacroDefinition(NamedTuple):
    symbol: UnitSymbol
    body: bytes


class Macros:
    """The macro definitions and expansions of a unit, collected from the preprocessor's cursors."""

    def __init__(self, unit: TranslationUnit, declarations: Declarations, language: Language) -> None:
        self._unit = unit
        self._declarations = declarations
        self._language: Language = language
        self._names: dict[int | None, tuple[str, str] | None] = {}
        self._definitions: dict[str, MacroDefinition] = {}
        self._expansions: list[tuple[int, int, str]] = []
        self.targets: dict[str, str] = {}

    @property
    def symbols(self) -> Iterator[UnitSymbol]:
        return (definition.symbol for definition in self._definitions.values())

    def add(self, cursor: Cursor) -> None:
        """Record a definition or an expansion in a file of the project."""
        position = self._unit.position(cursor)
        if self._unit.file_of(position.file) is None:
            return
        if cursor.kind == CursorKind.MACRO_DEFINITION:
            self._define(cursor)
        elif position.file is not None and (named := self._named(library().clang_getCursorReferenced(cursor))):
            self._expansions.append((position.file, position.offset, named[0]))
            self.targets[named[0]] = named[1]

    def references(self, sources: Sequence[tuple[ByteRange, str]]) -> Iterator[Reference]:
        """Yield the uses of macros within the spans of definitions, and within other macros."""
        spans = sorted(sources, key=lambda one: (one[0].file, one[0].begin, -one[0].end))
        opened: list[tuple[ByteRange, str]] = []
        place = 0
        for file, offset, key in sorted(self._expansions):
            while place < len(spans) and spans[place][0][:2] <= (file, offset):
                opened.append(spans[place])
                place += 1
            while opened and (opened[-1][0].file != file or opened[-1][0].end <= offset):
                opened.pop()
            # The innermost definition, or several that one expansion generates.
            innermost = [source for span, source in opened[-MAX_TOGETHER:] if span == opened[-1][0]]
            yield from (Reference(source, key, "macro") for source in innermost)
        yield from self._between_macros()

    def _define(self, cursor: Cursor) -> None:
        named = self._named(cursor)
        if named is None:
            return
        key, name = named
        span, extent = self._declarations.extent(cursor)
        words = self._unit.contents(span.file)[span.begin : span.end]
        function_like = bool(library().clang_Cursor_isMacroFunctionLike(cursor))
        signature = re.sub(r"\s+", " ", words.replace(b"\\\n", b" ").decode(errors="replace"))[:MAX_SIGNATURE]
        body = words[len(name.encode()) :]
        facts = [fact for fact, holds in (("empty", not body.strip()), ("function_like", function_like)) if holds]
        symbol = UnitSymbol(
            key=key,
            category="macro",
            kind="macro",
            name=name,
            qualified_name=name,
            extent=extent,
            language=self._language,
            signature=signature,
            source_hash=hashlib.sha256(words).hexdigest(),
            facts=tuple(facts),
        )
        self._definitions[key] = MacroDefinition(symbol, body)

    def _named(self, definition: Cursor) -> tuple[str, str] | None:
        """Return the key and name of a macro, or None for a builtin macro."""
        place = definition.declaration
        if place not in self._names:
            self._names[place] = self._name(definition)
        return self._names[place]

    def _name(self, definition: Cursor) -> tuple[str, str] | None:
        if definition.kind != CursorKind.MACRO_DEFINITION or library().clang_Cursor_isMacroBuiltin(definition):
            return None
        name = text(library().clang_getCursorSpelling(definition))
        file = self._unit.file_of(self._unit.position(definition).file)
        return (f"c:@macro@{name}" if file is None else f"{file_text(file)}#c:@macro@{name}", name)

    def _between_macros(self) -> Iterator[Reference]:
        by_name: dict[bytes, list[str]] = {}
        for key, definition in self._definitions.items():
            by_name.setdefault(definition.symbol.name.encode(errors="surrogateescape"), []).append(key)
        for key, definition in self._definitions.items():
            for word in set(IDENTIFIER.findall(OPAQUE.sub(b" ", definition.body))):
                yield from (Reference(key, target, "macro") for target in by_name.get(word, ()) if target != key)


# The source text of cursors, and the text of the macros that generate them.

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


# Determine which parts of a `for` are omitted: libclang shows only the parts present, so its semicolons are read.

# Whether initialisation, condition and increment are present.
ForParts = tuple[bool, bool, bool]

FOR = re.compile(rb"\bfor\s*\(")
# Maximum number of bytes of a header that are read.
MAX_HEADER = 10_000
DEPTHS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def for_parts(source: ExpansionText, cursor: Cursor, count: int) -> ForParts | None:
    """Return which of the three parts of a `for` are present, given their number `count`; None if that is unclear."""
    if count in (0, 3):
        return (count == 3,) * 3
    written = source.from_written(cursor, MAX_HEADER)
    texts = [written] if FOR.match(written) else []
    if not texts:
        texts = [words[match.start() :] for words in source.of_macros(cursor) for match in FOR.finditer(words)]
    fitting = {parts for parts in map(parts_of_header, texts) if parts is not None and sum(parts) == count}
    return fitting.pop() if len(fitting) == 1 else None


def parts_of_header(words: bytes) -> ForParts | None:
    """Return the parts present in the `for` header at the start of a text; None unless it has two semicolons."""
    opened = FOR.match(words)
    if opened is None:
        return None
    depth, parts = 1, [False]
    header = words[opened.end() : opened.end() + MAX_HEADER].replace(b"\\\n", b" ")
    for byte in OPAQUE.sub(lambda match: b" " if match.group().startswith(b"/") else b"x", header):
        character = chr(byte)
        depth += DEPTHS.get(character, 0)
        if depth == 0:
            return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None
        if character == ";" and depth == 1:
            parts.append(False)
        elif not character.isspace():
            parts[-1] = True
    return None
