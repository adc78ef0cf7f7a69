"""The C API of libclang through ctypes, limited to the functions, structures and numbers needed to read C.

The Python binding of the wheel lacks operators and costs several times more CPU per cursor.  A cursor or type is valid
as long as its translation unit exists, and this module does not keep the unit alive.
"""

import ctypes
import re
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_longlong, c_uint, c_ulong, c_ulonglong, c_void_p
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.extras import advice

LIBRARIES = ("libclang.so", "libclang.dylib", "libclang.dll")

# Results of a visitor (CXChildVisitResult).
CONTINUE, RECURSE = 1, 2


class CXString(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("flags", c_uint)]


class Cursor(ctypes.Structure):
    """A node of the syntax tree; `declaration` identifies a declaration within its unit."""

    _fields_ = [
        ("kind", c_int),
        ("xdata", c_int),
        ("declaration", c_void_p),
        ("statement", c_void_p),
        ("unit", c_void_p),
    ]

    kind: int
    declaration: int | None
    statement: int | None


class ClangType(ctypes.Structure):
    """A type; `pointer` is equal for equal types of a unit."""

    _fields_ = [("kind", c_int), ("pointer", c_void_p), ("unit", c_void_p)]

    kind: int
    pointer: int | None


class SourceLocation(ctypes.Structure):
    _fields_ = [("pointers", c_void_p * 2), ("number", c_uint)]


class SourceRange(ctypes.Structure):
    _fields_ = [("pointers", c_void_p * 2), ("begin", c_uint), ("end", c_uint)]


Visitor = ctypes.CFUNCTYPE(c_int, Cursor, Cursor, c_void_p)
FieldVisitor = ctypes.CFUNCTYPE(c_int, Cursor, c_void_p)
InclusionVisitor = ctypes.CFUNCTYPE(None, c_void_p, POINTER(SourceLocation), c_uint, c_void_p)

# The types in libclang.txt, which has a line for each function in use; `T*` is a pointer to T.
_TYPES: dict[str, Any] = {
    **{"void": None, "pointer": c_void_p, "text": c_char_p, "int": c_int, "uint": c_uint, "ulong": c_ulong},
    **{"longlong": c_longlong, "ulonglong": c_ulonglong, "double": c_double, "CXString": CXString, "Cursor": Cursor},
    **{"ClangType": ClangType, "SourceLocation": SourceLocation, "SourceRange": SourceRange, "Visitor": Visitor},
    **{"FieldVisitor": FieldVisitor, "InclusionVisitor": InclusionVisitor},
}
_FUNCTION = re.compile(r"(\w+)\((.*)\) -> (.+)")


def _ctype(word: str) -> Any:
    return POINTER(_TYPES[word[:-1]]) if word.endswith("*") else _TYPES[word]


class Position(NamedTuple):
    """A position in a file: `file` is libclang's handle, None outside of files; `offset` counts bytes from 0."""

    file: int | None
    line: int
    column: int
    offset: int


@cache
def library() -> Any:
    """Return libclang with typed functions; raise UsageError if its wheel is not installed."""
    spec = find_spec("clang")
    directories = list(spec.submodule_search_locations or ()) if spec else []
    paths = [Path(directory, "native", name) for directory in directories for name in LIBRARIES]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise UsageError(f"reading C needs libclang, which is not installed; {advice('c2rust')}")
    lib = ctypes.CDLL(str(path))
    for name, words, result in _FUNCTION.findall(files(__package__).joinpath("libclang.txt").read_text("utf-8")):
        function = getattr(lib, name)
        function.argtypes, function.restype = [_ctype(word) for word in words.split(", ")], _ctype(result)
    return lib


def text(string: CXString) -> str:
    """Convert a string of libclang and free it; bytes that are not UTF-8 become escapes, so that it can be stored."""
    return raw(string).decode(errors="backslashreplace")


def raw(string: CXString) -> bytes:
    """Copy the bytes of a string of libclang and free it."""
    lib = library()
    value: bytes | None = lib.clang_getCString(string)
    lib.clang_disposeString(string)
    return value or b""


def place(location: SourceLocation, function: str = "clang_getExpansionLocation") -> Position:
    """Return the position of a location in a file; inside a macro, the position of the expansion."""
    file, line, column, offset = c_void_p(), c_uint(), c_uint(), c_uint()
    getattr(library(), function)(location, byref(file), byref(line), byref(column), byref(offset))
    return Position(file.value, line.value, column.value, offset.value)


def children(cursor: Cursor) -> list[Cursor]:
    """Return the direct children of a cursor."""
    cursors: list[Cursor] = []
    append = cursors.append

    # A visitor must not raise: ctypes would drop the exception, and libclang would continue with an arbitrary result.
    def visit(child: Cursor, _parent: Cursor, _data: int) -> int:
        append(child)
        return CONTINUE

    library().clang_visitChildren(cursor, Visitor(visit), None)
    return cursors


def descendants(cursor: Cursor, skip: frozenset[int] = frozenset()) -> list[Cursor]:
    """Return all cursors below a cursor in pre-order, without the descendants of cursors whose kind is in `skip`."""
    cursors: list[Cursor] = []
    append = cursors.append

    def visit(child: Cursor, _parent: Cursor, _data: int) -> int:
        append(child)
        return CONTINUE if child.kind in skip else RECURSE

    library().clang_visitChildren(cursor, Visitor(visit), None)
    return cursors
