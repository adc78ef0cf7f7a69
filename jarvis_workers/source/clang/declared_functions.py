"""The names of the functions that a header itself declares or defines, without those of included files."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from jarvis_workers.errors import GivenUp
from jarvis_workers.source.clang.kinds import CONTAINERS, FUNCTIONS, RECORDS
from jarvis_workers.source.clang.libclang import Cursor, children, library, text
from jarvis_workers.source.clang.translation_unit import TranslationUnit, parsed
from jarvis_workers.source.clang.unit import CompileCommand, language_of


def declared_functions(root: Path, header: bytes, arguments: Sequence[str], headers: Path) -> tuple[str, ...]:
    """Return the unique names of the functions of a header in source order; `header` is relative to the root.

    Raises GivenUp with the first error if libclang finds one, because the names would be incomplete.
    """
    command = CompileCommand(header, b"", tuple(arguments))
    if not any(argument.startswith("-x") for argument in arguments):
        command = command._replace(arguments=("-x", language_of(command), *arguments))
    with parsed(root, command, headers) as unit:
        error = next((one for one in unit.diagnostics() if one.severity != "warning"), None)
        if error:
            raise GivenUp(f"{error.file.decode(errors='backslashreplace')}:{error.line}: {error.message}")
        return tuple(dict.fromkeys(_functions(unit, unit.cursor, header)))


def _functions(unit: TranslationUnit, parent: Cursor, header: bytes) -> Iterator[str]:
    for cursor in children(parent):
        if cursor.kind in FUNCTIONS:
            if unit.file_of(unit.position(cursor).file) == header:
                yield text(library().clang_getCursorSpelling(cursor))
        elif cursor.kind in CONTAINERS | RECORDS:
            yield from _functions(unit, cursor, header)
