"""Read the syntax trees of the functions and variables that a unit defines below the root."""

from pathlib import Path

from jarvis_workers.source.clang.declaration_keys import DeclarationKeys
from jarvis_workers.source.clang.kinds import CursorKind
from jarvis_workers.source.clang.libclang import children, library
from jarvis_workers.source.clang.syntax_builder import SyntaxBuilder
from jarvis_workers.source.clang.syntax_tree import SyntaxNode
from jarvis_workers.source.clang.translation_unit import parsed
from jarvis_workers.source.clang.unit import CompileCommand


def read_trees(root: Path, command: CompileCommand, headers: Path) -> dict[str, SyntaxNode]:
    """Return the tree of each function and variable of a C unit by its key, in the order of the source.

    Arguments and errors are those of `read_unit`; the trees of a unit with errors are incomplete.
    """
    trees = {}
    with parsed(root, command, headers) as unit:
        keys = DeclarationKeys(unit)
        builder = SyntaxBuilder(unit, keys)
        for cursor in children(unit.cursor):
            if cursor.kind not in (CursorKind.FUNCTION, CursorKind.VARIABLE):
                continue
            if not library().clang_isCursorDefinition(cursor) or unit.file_of(unit.position(cursor).file) is None:
                continue
            if key := keys.of(cursor):
                trees[key.key] = builder.build(cursor)
    return trees
