"""Read a translation unit with libclang: its symbols below the root, and their references.

A unit with errors is read as far as libclang understands it; callers must not treat it as complete.  Only files below
the root contribute symbols; symbols of other files that the unit uses are listed in `externals`.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from jarvis_workers.source.clang.declaration_facts import ALIASES_BY_NAME
from jarvis_workers.source.clang.declaration_keys import DeclarationKey, DeclarationKeys, category_of
from jarvis_workers.source.clang.declarations import ByteRange, Declarations
from jarvis_workers.source.clang.kinds import CONTAINERS, FUNCTIONS, RECORDS, TYPES, CursorKind
from jarvis_workers.source.clang.libclang import Cursor, children, descendants
from jarvis_workers.source.clang.macros import Macros
from jarvis_workers.source.clang.parser_arguments import language_of
from jarvis_workers.source.clang.pretty_printer import PrettyPrinter, attributes, pretty_printer
from jarvis_workers.source.clang.references import BodyReader
from jarvis_workers.source.clang.translation_unit import TranslationUnit, parsed
from jarvis_workers.source.clang.unit import CompileCommand, Language, Reference, Unit, UnitSymbol


def read_unit(root: Path, command: CompileCommand, headers: Path) -> Unit:
    """Read the unit that a command compiles; raise GivenUp if libclang returns no syntax tree.

    `root` is the project's directory on this machine, `headers` the directory of the builtin headers of clang.
    """
    return read_unit_and_files(root, command, headers)[0]


def read_unit_and_files(root: Path, command: CompileCommand, headers: Path) -> tuple[Unit, tuple[bytes, ...]]:
    """Read a unit as `read_unit` does; also return the absolute paths of the files read outside the project."""
    with parsed(root, command, headers) as unit, pretty_printer(unit.cursor) as printer:
        language = language_of(command)
        reader = _UnitReader(unit, language, printer)
        reader.read(unit.cursor)
        found = Unit(
            file=command.file,
            language=language,
            arguments_hash=arguments_hash(command),
            symbols=reader.sorted_symbols(),
            references=reader.sorted_references(),
            externals=reader.externals(),
            includes=unit.includes(),
            diagnostics=unit.diagnostics(),
        )
        return found, unit.system_files()


def arguments_hash(command: CompileCommand) -> str:
    """Return the SHA-256 of the directory and the arguments."""
    words = [command.directory.decode(errors="surrogateescape"), *command.arguments]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


PRAGMA_WEAK = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+weak[ \t]+(\w+)", re.MULTILINE)


class _UnitReader:
    def __init__(self, unit: TranslationUnit, language: Language, printer: PrettyPrinter) -> None:
        self._unit = unit
        self._printer = printer
        self._keys = DeclarationKeys(unit)
        self._declarations = Declarations(unit, self._keys, language)
        self._bodies = BodyReader(self._keys, language, printer)
        self._macros = Macros(unit, self._declarations, language)
        self._symbols: dict[str, UnitSymbol] = {}
        self._spans: list[tuple[ByteRange, str]] = []
        self._aliases: list[tuple[str, str]] = []
        # libclang does not report this pragma, so the text is searched for it.
        self._weak = {name for file in unit.files.values() for name in PRAGMA_WEAK.findall(unit.contents(file))}

    def read(self, parent: Cursor) -> None:
        """Read the declarations directly below a cursor, and those in namespaces and classes below it."""
        for cursor in children(parent):
            kind = cursor.kind
            if kind in (CursorKind.MACRO_DEFINITION, CursorKind.MACRO_EXPANSION):
                self._macros.add(cursor)
            elif kind in CONTAINERS:
                self.read(cursor)
            elif category_of(kind) and self._unit.file_of(self._unit.position(cursor).file) is not None:
                self._declare(cursor)

    def _declare(self, cursor: Cursor) -> None:
        key = self._keys.of(cursor)
        if key is None:
            return
        symbol = self._declarations.symbol(cursor, key, self._printer)
        earlier = self._symbols.get(key.key)
        if earlier is not None:
            # clang prints an attribute only with the declaration that has it, which may be an earlier one.
            symbol = replace(symbol, facts=tuple(sorted({*symbol.facts, *earlier.facts} - {"no_prototype"})))
        if earlier is not None and earlier.is_definition:
            self._declare_again(earlier, symbol, cursor)
            return
        if symbol.is_definition:
            symbol = self._define(cursor, key, symbol)
        if earlier is None or symbol.is_definition:
            self._symbols[key.key] = symbol

    def _declare_again(self, earlier: UnitSymbol, symbol: UnitSymbol, cursor: Cursor) -> None:
        """Give an anonymous type the extent of the typedef that names it; other redeclarations only change facts."""
        if cursor.kind == CursorKind.TYPEDEF and earlier.kind != "typedef":
            earlier = replace(earlier, extent=symbol.extent, source_hash=symbol.source_hash)
        self._symbols[symbol.key] = replace(earlier, facts=symbol.facts)

    def _define(self, cursor: Cursor, key: DeclarationKey, symbol: UnitSymbol) -> UnitSymbol:
        # Methods are separate symbols inside a class.
        below = descendants(cursor, FUNCTIONS if cursor.kind in RECORDS else frozenset())
        facts = self._bodies.read(key, below)
        self._spans.append((self._declarations.extent(cursor)[0], key.key))
        for name, target in attributes(self._printer.print(cursor)).items():
            if name in ALIASES_BY_NAME:
                self._aliases.append((key.key, target.strip('"')))
        if cursor.kind in RECORDS:
            for member in children(cursor):
                if member.kind in TYPES | FUNCTIONS or member.kind == CursorKind.VARIABLE:
                    self._declare(member)
        return replace(symbol, facts=tuple(sorted({*symbol.facts, *facts})))

    def sorted_symbols(self) -> tuple[UnitSymbol, ...]:
        symbols = [*map(self._with_pragmas, self._listed()), *self._macros.symbols]
        return tuple(sorted(symbols, key=lambda symbol: (symbol.extent.file, *symbol.extent[1:3], symbol.key)))

    def _listed(self) -> Iterator[UnitSymbol]:
        """Yield the symbols except prototypes, most of which are from headers and unused."""
        return (one for one in self._symbols.values() if one.is_definition or one.category == "type")

    def _with_pragmas(self, symbol: UnitSymbol) -> UnitSymbol:
        weak = symbol.name.encode() in self._weak and symbol.category in ("function", "global")
        return replace(symbol, facts=tuple(sorted({*symbol.facts, "weak"}))) if weak else symbol

    def sorted_references(self) -> tuple[Reference, ...]:
        by_attributes = [*self._named(self._bodies.calls_by_name, "call"), *self._named(self._aliases, "address")]
        return tuple(sorted({*self._bodies.references, *self._macros.references(self._spans), *by_attributes}))

    def _named(self, pairs: list[tuple[str, str]], kind: str) -> Iterator[Reference]:
        functions = {symbol.name: symbol.key for symbol in self._symbols.values() if symbol.category == "function"}
        for source, name in pairs:
            if name in functions:
                yield Reference(source, functions[name], "call" if kind == "call" else "address")

    def externals(self) -> tuple[tuple[str, str], ...]:
        names = {key: target.name for key, target in self._bodies.targets.items()} | self._macros.targets
        names |= {key: self._symbols[key].name for _, key, _ in self.sorted_references() if key in self._symbols}
        own = {symbol.key for symbol in (*self._listed(), *self._macros.symbols)}
        return tuple(sorted((key, name) for key, name in names.items() if key not in own))
