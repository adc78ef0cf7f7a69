"""The macros of a unit: definitions below the root, and their uses.

libclang records only expansions in the source text, so macros used by a macro are found by searching its definition.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jarvis_workers.source.clang.declaration_keys import file_text
from jarvis_workers.source.clang.declarations import ByteRange, Declarations
from jarvis_workers.source.clang.kinds import CursorKind
from jarvis_workers.source.clang.libclang import Cursor, library, text
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
