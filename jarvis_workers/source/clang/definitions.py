"""Read the input of a translation: the functions and globals of a unit with trees and types, and their references."""

from pathlib import Path

from jarvis_workers.source.clang.c_types import CDeclaration, CDefinition, UnitDefinitions
from jarvis_workers.source.clang.declaration_keys import DeclarationKey, DeclarationKeys
from jarvis_workers.source.clang.declarations import Declarations, is_definition
from jarvis_workers.source.clang.kinds import LINKAGE_INTERNAL, CursorKind
from jarvis_workers.source.clang.libclang import ClangType, Cursor, children, library, text
from jarvis_workers.source.clang.syntax_builder import SyntaxBuilder
from jarvis_workers.source.clang.translation_unit import TranslationUnit, parsed
from jarvis_workers.source.clang.unexposed_expressions import BUILTIN
from jarvis_workers.source.clang.unit import CompileCommand


def read_definitions(root: Path, command: CompileCommand, headers: Path) -> UnitDefinitions:
    """Return the definitions of a C unit below the root, including those in headers, with the types that they use.

    Arguments and errors are as in `read_unit`; the trees of a unit with errors are incomplete.
    """
    with parsed(root, command, headers) as unit:
        return _DefinitionReader(unit).read()


class _DefinitionReader:
    def __init__(self, unit: TranslationUnit) -> None:
        self._unit = unit
        self._keys = DeclarationKeys(unit)
        self._builder = SyntaxBuilder(unit, self._keys)
        self._types = self._builder.types
        self._declarations = Declarations(unit, self._keys, "c")

    def read(self) -> UnitDefinitions:
        definitions = tuple(self._definition(key, cursor) for key, cursor in _definitions_of(self._unit, self._keys))
        own = {one.key for one in definitions}
        references = sorted(self._builder.references.items())
        declared = tuple(self._declaration(key, cursor) for key, cursor in references if key not in own)
        types = self._types.types()
        records = self._types.records()
        return UnitDefinitions(self._unit.file, definitions, declared, types, records, self._types.enums())

    def _definition(self, key: DeclarationKey, cursor: Cursor) -> CDefinition:
        lib = library()
        type_ = lib.clang_getCursorType(cursor)
        return CDefinition(
            key.key,
            key.name,
            self._declarations.extent(cursor)[1],
            lib.clang_getCursorLinkage(cursor) == LINKAGE_INTERNAL,
            self._types.read(type_),
            self._builder.build(cursor),
            cursor.kind == CursorKind.VARIABLE and _is_constant(type_),
        )

    def _declaration(self, key: str, cursor: Cursor) -> CDeclaration:
        type_ = self._types.read(library().clang_getCursorType(cursor))
        name = text(library().clang_getCursorSpelling(cursor))
        # A builtin function is declared where it is used first.
        project = self._unit.file_of(self._unit.position(cursor).file) is not None and not BUILTIN.match(name.encode())
        # Mach-O and an assembler name have a prefix.
        symbol = text(library().clang_Cursor_getMangling(cursor)).removeprefix("\x01")
        return CDeclaration(key, name, type_, project, symbol or name)


def _is_constant(type_: ClangType) -> bool:
    # The canonical type of an array has the qualifiers of its elements.
    return bool(library().clang_isConstQualifiedType(library().clang_getCanonicalType(type_)))


def _definitions_of(unit: TranslationUnit, keys: DeclarationKeys) -> list[tuple[DeclarationKey, Cursor]]:
    """Return the functions and variables that a unit defines below the root, in source order.

    If a variable has several tentative definitions, such as `int table[]; int table[4];`, only the last is returned.
    """
    definitions: dict[str, tuple[DeclarationKey, Cursor]] = {}
    for cursor in children(unit.cursor):
        if cursor.kind not in (CursorKind.FUNCTION, CursorKind.VARIABLE) or not is_definition(cursor):
            continue
        if unit.file_of(unit.position(cursor).file) is not None and (key := keys.of(cursor)):
            definitions[key.key] = (key, cursor)
    return list(definitions.values())
