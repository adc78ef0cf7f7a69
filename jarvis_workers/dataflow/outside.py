"""Outside data that no library function reads: bytes of buffers that a function is given, and numbers made of them."""

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.ast_queries import without_casts
from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.sizes import BYTES, limits_of
from jarvis_workers.dataflow.types import type_of
from jarvis_workers.dataflow.values import ANY, UNKNOWN, PathEvent, Range, Value

# A single byte of a buffer is weak evidence: it may be the program's own. A number made of several is better.
BYTE_DOUBT, NUMBER_DOUBT, CONVERTED_DOUBT = 0.3, 0.1, 0.2
BYTE = (0, 255)
# The result of an operation with one of these operators on outside data may be larger than its operands.
JOINING = frozenset(("|", "+", "^"))
SHIFTS = frozenset(("<<", "*"))
ELEMENTS = frozenset((ir.DerefExpr, ir.IndexExpr))
SHORT_MAX = 65_535


def byte_pointer(path: PathState, e: ir.Expression) -> bool:
    """Return whether an expression points to unsigned bytes."""
    kind = type_of(path, e)
    return kind is not None and kind.endswith("*") and limits_of(path.machine.plain(kind[:-1])) == BYTE


def points_to_bytes(path: PathState, e: ir.Expression) -> bool:
    """Return whether an expression points to bytes or characters, or to memory of any type."""
    kind = type_of(path, e)
    return kind is not None and kind.endswith("*") and path.machine.plain(kind[:-1]) in BYTES


def byte_at(path: PathState, e: ir.Expression) -> Value:
    """Return the value of an element of a buffer that the path has not written: outside data if it is a byte."""
    if not isinstance(e, (ir.DerefExpr, ir.IndexExpr)):
        return ANY
    pointer: ir.Expression = e.pointer if isinstance(e, ir.DerefExpr) else e.base
    if not byte_pointer(path, pointer):
        return ANY
    return _outside_byte(path, e)


def cast_byte(path: PathState, e: ir.CastExpr) -> Value:
    """Return the value of a character of an unknown buffer that is cast to an unsigned byte."""
    if type(e.operand) not in ELEMENTS or limits_of(path.machine.plain(e.type)) != BYTE:
        return ANY
    return _outside_byte(path, e.operand)


def _outside_byte(path: PathState, e: ir.Expression) -> Value:
    return Value(BYTE, taint=_event(path, "{} is a byte of a buffer from outside this function", e, BYTE_DOUBT))


def joined(path: PathState, e: ir.BinaryExpr, left: Value, right: Value) -> PathEvent | None:
    """Return the taint of the result of an operation; joining bytes makes a number of an external format."""
    taint = left.taint or right.taint
    if taint is None or e.op not in JOINING or taint.doubt != BYTE_DOUBT:
        return taint
    if left.taint is None or right.taint is None or not (_is_shifted(e.left) or _is_shifted(e.right)):
        return taint
    return copied_number(path, e)


def copied_number(path: PathState, e: ir.Expression) -> PathEvent | None:
    """Return the event that a number is read from the bytes of a buffer."""
    return _event(path, "{} is a number read from the bytes of a buffer", e, NUMBER_DOUBT)


def converted_number(path: PathState, e: ir.Expression) -> PathEvent | None:
    """Return the event that a number in memory is converted from an external byte order."""
    return _event(path, "{} is in the byte order of an external format", e, CONVERTED_DOUBT)


def overlaid(path: PathState, e: ir.Expression) -> Value:
    """Return a field of a struct that overlays bytes which the function received."""
    taint = _event(path, "{} is a field of a struct that overlays bytes from outside this function", e, CONVERTED_DOUBT)
    return typed(path, e, taint)


def typed(path: PathState, e: ir.Expression, taint: PathEvent | None) -> Value:
    """Return outside data in the range of its type, if that says anything."""
    return Value(range_of(path, type_of(path, e)), taint=taint)


def range_of(path: PathState, kind: str | None) -> Range:
    """Return the range of a short unsigned type; of a longer one only that it is not negative."""
    bounds = limits_of(path.machine.plain(kind)) if kind else None
    if bounds is None or bounds[0] < 0:
        return UNKNOWN
    return 0, bounds[1] if bounds[1] <= SHORT_MAX else None


def _is_shifted(e: ir.Expression) -> bool:
    e = without_casts(e)
    if isinstance(e, ir.CallExpr):
        # A macro or function that reads one of the parts.
        return True
    if not isinstance(e, ir.BinaryExpr):
        return False
    return e.op in SHIFTS or (e.op in JOINING and (_is_shifted(e.left) or _is_shifted(e.right)))


def _event(path: PathState, note: str, e: ir.Expression, doubt: float) -> PathEvent | None:
    """Return an event that does not depend on the way to it, so that states with the same values merge."""
    return path.outside(PathEvent(None, path.frame.file, path.machine.line, note, e, doubt))
