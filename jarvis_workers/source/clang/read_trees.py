"""Read the syntax trees of the functions and variables that a unit defines below the root."""

from pathlib import Path

from jarvis_workers.source.clang.declaration_keys import DeclarationKey, DeclarationKeys
from jarvis_workers.source.clang.declarations import is_definition
from jarvis_workers.source.clang.kinds import CursorKind
from jarvis_workers.source.clang.libclang import Cursor, children
from jarvis_workers.source.clang.syntax_builder import SyntaxBuilder
from jarvis_workers.source.clang.syntax_tree import SyntaxNode
from jarvis_workers.source.clang.translation_unit import TranslationUnit, parsed
from jarvis_workers.source.clang.unit import CompileCommand


def read_trees(root: Path, command: CompileCommand, headers: Path) -> dict[str, SyntaxNode]:
    """Return the tree of each function and variable of a C unit by key, in source order.

    The arguments and exceptions are those of `read_unit`; the trees of a unit with errors are incomplete.
    """
    with parsed(root, command, headers) as unit:
        keys = DeclarationKeys(unit)
        builder = SyntaxBuilder(unit, keys)
        return {key.key: builder.build(cursor) for key, cursor in definitions_of(unit, keys)}


def definitions_of(unit: TranslationUnit, keys: DeclarationKeys) -> list[tuple[DeclarationKey, Cursor]]:
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
