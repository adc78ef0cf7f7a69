"""Parse a source file with libclang, and read the data of the whole unit: files, diagnostics, includes.

Arguments are passed as bytes, so that paths need not be UTF-8.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_ulong, c_void_p
from functools import cached_property
from pathlib import Path

from jarvis_workers.errors import GivenUp
from jarvis_workers.source.clang.kinds import SEVERITY_ERROR, SEVERITY_FATAL, SEVERITY_WARNING
from jarvis_workers.source.clang.libclang import (
    Cursor,
    InclusionVisitor,
    Position,
    SourceLocation,
    library,
    place,
    raw,
    text,
)
from jarvis_workers.source.clang.unit import CompileCommand, Diagnostic, Severity, parser_arguments

# CXTranslationUnit_Flags: record macros, and continue after a missing header, to report all missing ones.
DETAILED_PREPROCESSING_RECORD, KEEP_GOING = 0x01, 0x200
CRASHED = "libclang crashed"
ERROR_CODES = {1: "libclang failed", 2: CRASHED, 3: "libclang rejected the arguments", 4: "libclang failed"}
SEVERITIES: dict[int, Severity] = {SEVERITY_WARNING: "warning", SEVERITY_ERROR: "error", SEVERITY_FATAL: "fatal"}
# Maximum number of warnings, and of errors, reported per unit.
MAX_DIAGNOSTICS = 100


class TranslationUnit:
    """A parsed file; `file_of` maps libclang's files to paths below the root."""

    def __init__(self, handle: c_void_p, root: bytes, directory: bytes, file: bytes) -> None:
        self.handle = handle
        self.root = root
        self.file = os.path.normpath(file)
        self._real_root = os.path.realpath(root)
        self._directory = directory
        self._files: dict[int | None, bytes | None] = {None: None}
        self._contents: dict[int, bytes] = {}

    @property
    def cursor(self) -> Cursor:
        cursor: Cursor = library().clang_getTranslationUnitCursor(self.handle)
        return cursor

    def file_of(self, file: int | None) -> bytes | None:
        """Return the path of a file relative to the root, or None if it is outside."""
        if file not in self._files:
            self._files[file] = self._relative(file)
        return self._files[file]

    def path_of(self, file: int | None) -> bytes:
        """Return the absolute path of a file, or b"" for a position outside of files."""
        path = self._opened(file)
        return os.path.normpath(path) if path else b""

    def _opened(self, file: int | None) -> bytes:
        """Return the absolute path under which libclang opened a file, or b""."""
        name = raw(library().clang_getFileName(file)) if file else b""
        return os.path.join(self._directory, name) if name and not name.startswith(b"<") else b""

    def _relative(self, file: int | None) -> bytes | None:
        """Return the path of a file relative to the root, with symbolic links resolved."""
        path = self._opened(file)
        for root, one in ((self._real_root, os.path.realpath(path)), (self.root, os.path.normpath(path))):
            if path and one.startswith(root.rstrip(b"/") + b"/"):
                return one[len(root.rstrip(b"/")) + 1 :]
        return None

    def contents(self, file: int) -> bytes:
        """Return the contents of a file that libclang has read."""
        if file not in self._contents:
            size = c_ulong()
            address = library().clang_getFileContents(self.handle, file, byref(size)) if file else None
            self._contents[file] = ctypes.string_at(address, size.value) if address else b""
        return self._contents[file]

    @cached_property
    def files(self) -> dict[bytes, int]:
        """The files of the project that the unit reads, by path."""
        files: dict[bytes, int] = {}
        for file in self._inclusions:
            path = self.file_of(file)
            if path is not None:
                files.setdefault(path, file)
        return files

    @cached_property
    def _inclusions(self) -> list[int]:
        inclusions: list[int] = []

        def visit(file: int, _stack: object, _depth: int, _data: object) -> None:
            inclusions.append(file)

        library().clang_getInclusions(self.handle, InclusionVisitor(visit), None)
        return inclusions

    def system_files(self) -> tuple[bytes, ...]:
        """Return the sorted absolute paths of the files outside the project that the unit reads."""
        return tuple(sorted({self.path_of(file) for file in self._inclusions if self.file_of(file) is None}))

    def includes(self) -> tuple[bytes, ...]:
        """Return the sorted paths of the project's files that the unit reads in addition to its own file."""
        return tuple(sorted(self.files.keys() - {self.file}))

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return the first errors and warnings, in the order in which clang reports them."""
        counts = dict.fromkeys(("warning", "error"), 0)
        diagnostics = []
        for index in range(library().clang_getNumDiagnostics(self.handle)):
            if one := self._diagnostic(index):
                group = "warning" if one.severity == "warning" else "error"
                counts[group] += 1
                if counts[group] <= MAX_DIAGNOSTICS:
                    diagnostics.append(one)
        return tuple(diagnostics)

    def _diagnostic(self, index: int) -> Diagnostic | None:
        lib = library()
        handle = c_void_p(lib.clang_getDiagnostic(self.handle, index))
        try:
            severity = SEVERITIES.get(lib.clang_getDiagnosticSeverity(handle))
            if severity is None:
                return None
            at = place(lib.clang_getDiagnosticLocation(handle))
            message = self.without_root(text(lib.clang_getDiagnosticSpelling(handle)))
        finally:
            lib.clang_disposeDiagnostic(handle)
        file = self.file_of(at.file)
        return Diagnostic(severity, self.path_of(at.file) if file is None else file, at.line, at.column, message)

    def without_root(self, words: str) -> str:
        """Remove the path of the root, which differs between workers, from a message or type."""
        return words.replace(self.root.decode(errors="backslashreplace").rstrip("/") + "/", "")

    def position(self, cursor: Cursor) -> Position:
        """Return the position of a cursor; for code generated by a macro, the position of the expansion."""
        location: SourceLocation = library().clang_getCursorLocation(cursor)
        return place(location)


@contextmanager
def parsed(root: Path, command: CompileCommand, headers: Path) -> Iterator[TranslationUnit]:
    """Parse a source file; raise GivenUp if libclang returns no syntax tree."""
    lib = library()
    root_path = os.path.abspath(os.fsencode(root))
    directory = os.path.normpath(os.path.join(root_path, command.directory))
    file = os.path.join(root_path, command.file)
    if not os.path.isfile(file):
        raise GivenUp("the file does not exist")
    arguments = [*parser_arguments(root_path, command, headers), file]
    index = c_void_p(lib.clang_createIndex(0, 0))
    handle = c_void_p()
    try:
        code = lib.clang_parseTranslationUnit2(
            index,
            None,
            (c_char_p * len(arguments))(*arguments),
            len(arguments),
            None,
            0,
            DETAILED_PREPROCESSING_RECORD | KEEP_GOING,
            byref(handle),
        )
        if code or not handle:
            raise GivenUp(ERROR_CODES.get(code, "libclang failed"))
        yield TranslationUnit(handle, root_path, directory, command.file)
    finally:
        if handle:
            lib.clang_disposeTranslationUnit(handle)
        lib.clang_disposeIndex(index)
