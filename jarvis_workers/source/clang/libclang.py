"""The C API of libclang through ctypes, limited to the functions, structures and numbers needed to read C.

The Python binding of the wheel lacks operators and costs several times more CPU per cursor.  A cursor or type is valid
as long as its translation unit exists, and this module does not keep the unit alive.
"""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_longlong, c_uint, c_ulong, c_ulonglong, c_void_p
from functools import cache
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

# Argument and result types of each function.
_SIGNATURES: dict[str, tuple[list[Any], Any]] = {
    "clang_createIndex": ([c_int, c_int], c_void_p),
    "clang_disposeIndex": ([c_void_p], None),
    "clang_parseTranslationUnit2": (
        [c_void_p, c_char_p, POINTER(c_char_p), c_int, c_void_p, c_uint, c_uint, POINTER(c_void_p)],
        c_int,
    ),
    "clang_disposeTranslationUnit": ([c_void_p], None),
    "clang_getTranslationUnitCursor": ([c_void_p], Cursor),
    "clang_visitChildren": ([Cursor, Visitor, c_void_p], c_uint),
    "clang_getInclusions": ([c_void_p, InclusionVisitor, c_void_p], None),
    "clang_getCString": ([CXString], c_char_p),
    "clang_disposeString": ([CXString], None),
    "clang_getNumDiagnostics": ([c_void_p], c_uint),
    "clang_getDiagnostic": ([c_void_p, c_uint], c_void_p),
    "clang_disposeDiagnostic": ([c_void_p], None),
    "clang_getDiagnosticSeverity": ([c_void_p], c_int),
    "clang_getDiagnosticSpelling": ([c_void_p], CXString),
    "clang_getDiagnosticLocation": ([c_void_p], SourceLocation),
    "clang_getCursorLocation": ([Cursor], SourceLocation),
    "clang_getCursorExtent": ([Cursor], SourceRange),
    "clang_getRangeStart": ([SourceRange], SourceLocation),
    "clang_getRangeEnd": ([SourceRange], SourceLocation),
    **{
        name: ([SourceLocation, POINTER(c_void_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)], None)
        for name in ("clang_getExpansionLocation", "clang_getFileLocation")
    },
    "clang_getFileName": ([c_void_p], CXString),
    "clang_getFileContents": ([c_void_p, c_void_p, POINTER(c_ulong)], c_void_p),
    "clang_getCursorSpelling": ([Cursor], CXString),
    "clang_getCursorUSR": ([Cursor], CXString),
    "clang_getCursorReferenced": ([Cursor], Cursor),
    "clang_getCursorDefinition": ([Cursor], Cursor),
    "clang_getCanonicalCursor": ([Cursor], Cursor),
    "clang_getCursorSemanticParent": ([Cursor], Cursor),
    "clang_isCursorDefinition": ([Cursor], c_uint),
    "clang_getCursorLinkage": ([Cursor], c_int),
    "clang_getCursorTLSKind": ([Cursor], c_int),
    "clang_Cursor_getStorageClass": ([Cursor], c_int),
    "clang_Cursor_isFunctionInlined": ([Cursor], c_uint),
    "clang_Cursor_isVariadic": ([Cursor], c_uint),
    "clang_Cursor_isAnonymous": ([Cursor], c_uint),
    "clang_Cursor_isAnonymousRecordDecl": ([Cursor], c_uint),
    "clang_Cursor_isBitField": ([Cursor], c_uint),
    "clang_getFieldDeclBitWidth": ([Cursor], c_int),
    "clang_Cursor_isMacroFunctionLike": ([Cursor], c_uint),
    "clang_Cursor_isMacroBuiltin": ([Cursor], c_uint),
    "clang_Cursor_getNumArguments": ([Cursor], c_int),
    "clang_Cursor_getArgument": ([Cursor, c_uint], Cursor),
    "clang_Cursor_getVarDeclInitializer": ([Cursor], Cursor),
    "clang_getCursorPrettyPrinted": ([Cursor, c_void_p], CXString),
    "clang_getCursorPrintingPolicy": ([Cursor], c_void_p),
    "clang_PrintingPolicy_setProperty": ([c_void_p, c_int, c_uint], None),
    "clang_PrintingPolicy_dispose": ([c_void_p], None),
    "clang_getCursorType": ([Cursor], ClangType),
    "clang_getCursorResultType": ([Cursor], ClangType),
    "clang_getTypedefDeclUnderlyingType": ([Cursor], ClangType),
    "clang_getEnumConstantDeclValue": ([Cursor], c_longlong),
    "clang_getTypeSpelling": ([ClangType], CXString),
    "clang_getCanonicalType": ([ClangType], ClangType),
    "clang_getTypeDeclaration": ([ClangType], Cursor),
    "clang_getPointeeType": ([ClangType], ClangType),
    "clang_getArrayElementType": ([ClangType], ClangType),
    "clang_getArraySize": ([ClangType], c_longlong),
    "clang_Type_getNamedType": ([ClangType], ClangType),
    "clang_Type_getAlignOf": ([ClangType], c_longlong),
    "clang_Type_getSizeOf": ([ClangType], c_longlong),
    "clang_Type_visitFields": ([ClangType, FieldVisitor, c_void_p], c_uint),
    "clang_Cursor_getOffsetOfField": ([Cursor], c_longlong),
    "clang_getUnqualifiedType": ([ClangType], ClangType),
    "clang_isConstQualifiedType": ([ClangType], c_uint),
    "clang_isVolatileQualifiedType": ([ClangType], c_uint),
    "clang_getResultType": ([ClangType], ClangType),
    "clang_getNumArgTypes": ([ClangType], c_int),
    "clang_getArgType": ([ClangType, c_uint], ClangType),
    "clang_isFunctionTypeVariadic": ([ClangType], c_uint),
    "clang_getEnumDeclIntegerType": ([Cursor], ClangType),
    "clang_getCursorBinaryOperatorKind": ([Cursor], c_int),
    "clang_getCursorUnaryOperatorKind": ([Cursor], c_int),
    "clang_Cursor_Evaluate": ([Cursor], c_void_p),
    "clang_EvalResult_getKind": ([c_void_p], c_int),
    "clang_EvalResult_getAsLongLong": ([c_void_p], c_longlong),
    "clang_EvalResult_isUnsignedInt": ([c_void_p], c_uint),
    "clang_EvalResult_getAsUnsigned": ([c_void_p], c_ulonglong),
    "clang_EvalResult_getAsDouble": ([c_void_p], ctypes.c_double),
    "clang_EvalResult_getAsStr": ([c_void_p], c_char_p),
    "clang_EvalResult_dispose": ([c_void_p], None),
}


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
    for name, (arguments, result) in _SIGNATURES.items():
        function = getattr(lib, name)
        function.argtypes, function.restype = arguments, result
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
