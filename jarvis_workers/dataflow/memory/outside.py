"""Outside data that no library function reads: bytes of buffers that a function is given, numbers made of them, and
addresses: numbers that are cast to pointers, and pointers that were read as part of a struct.

An address is marked where it becomes a pointer, so that a pointer of the program that an outside offset moves is none.
"""

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.queries.ast_queries import without_casts
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.sizes import BYTES, limits_of
from jarvis_workers.dataflow.state.types import is_row, type_of
from jarvis_workers.dataflow.state.values import ANY, UNKNOWN, PathEvent, Range, Value

# A single byte of a buffer is weak evidence: it may be the program's own. A number made of several is better.
BYTE_DOUBT, NUMBER_DOUBT, CONVERTED_DOUBT = 0.3, 0.1, 0.2
BYTE = (0, 255)
# The result of an operation with one of these operators on outside data may be larger than its operands.
JOINING = frozenset(("|", "+", "^"))
SHIFTS = frozenset(("<<", "*"))
ELEMENTS = frozenset((ir.DerefExpr, ir.IndexExpr))
SHORT_MAX = 65_535
# The `kind` of a marked value.
ADDRESS = "@"
# The least number that a cast makes an address: smaller types hold indexes and tags.
UINT_MAX = 2**32 - 1
# A weaker event may be about data that the program itself has written.
CAST_DOUBT, MEMBER_DOUBT = 0.1, 0.0
# Programs send pointers to their own threads through pipes.
PIPED = frozenset(("read", "_read"))
# Functions that fill their first argument; the others fill their second one.
FIRST_FILLED = frozenset(("fread", "copy_from_user", "__copy_from_user"))
VARIABLES = frozenset((ir.NameExpr, ir.MemberExpr, ir.ArrowExpr))
NUMBERS = VARIABLES | {ir.IndexExpr, ir.DerefExpr, ir.CallExpr}


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
    return path.outside(PathEvent(None, path.frame.file, path.machine.execution.line, note, e, doubt))


def cast_number(path: PathState, e: ir.CastExpr, value: Value) -> Value:
    """Mark an outside number that is cast to a pointer; not a sum, whose other part may be a base address."""
    operand = without_casts(e.operand)
    if value.taint is None or value.target is not None or value.checked or value.taint.doubt > CAST_DOUBT:
        return value
    if type(operand) not in NUMBERS and not (isinstance(operand, ir.BinaryExpr) and operand.op in ("|", "<<")):
        return value
    kind = type_of(path, operand)
    bounds = limits_of(path.machine.plain(kind)) if kind else None
    is_joined = isinstance(operand, ir.BinaryExpr) and not kind
    return value._replace(kind=ADDRESS) if is_joined or (bounds and bounds[1] >= UINT_MAX) else value


def read_pointer(path: PathState, e: ir.Expression, value: Value) -> Value:
    """Mark a pointer that is loaded from memory which was read as a whole."""
    kind = type_of(path, e)
    if kind is None or not kind.endswith("*") or value.taint is None or value.taint.doubt > MEMBER_DOUBT:
        return value
    return value._replace(kind=ADDRESS) if _reads_whole(value.taint) and not is_row(path, e) else value


def _reads_whole(event: PathEvent) -> bool:
    """Return whether a call filled a variable, or memory from its start, from a file or socket.

    If it filled one field, all of the memory around it may count as filled.
    """
    call = event.about
    if not isinstance(call, ir.CallExpr) or not isinstance(call.callee, ir.NameExpr) or call.callee.name in PIPED:
        return False
    parts = [without_casts(part) for part in call.args]
    if any(isinstance(part, ir.AddressExpr) and isinstance(part.operand, ir.NameExpr) for part in parts):
        return True
    first = 0 if call.callee.name in FIRST_FILLED else 1
    return isinstance(parts[first] if first < len(parts) else None, ir.NameExpr)
