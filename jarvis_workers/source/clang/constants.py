"""Values of constant expressions, evaluated by clang."""

from ctypes import c_void_p

from jarvis_workers.source.clang.libclang import Cursor, library

# CXEvalResultKind.
INTEGER, FLOATING = 1, 2


def evaluate(cursor: Cursor) -> int | float | None:
    """Return the value of an integer or floating constant expression, or None for any other cursor."""
    lib = library()
    result = c_void_p(lib.clang_Cursor_Evaluate(cursor))
    if not result:
        return None
    try:
        kind = lib.clang_EvalResult_getKind(result)
        if kind == INTEGER:
            if lib.clang_EvalResult_isUnsignedInt(result):
                return int(lib.clang_EvalResult_getAsUnsigned(result))
            return int(lib.clang_EvalResult_getAsLongLong(result))
        return float(lib.clang_EvalResult_getAsDouble(result)) if kind == FLOATING else None
    finally:
        lib.clang_EvalResult_dispose(result)
