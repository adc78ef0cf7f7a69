"""Addresses from outside: numbers that are cast to pointers, and pointers that were read as part of a struct.

A value is marked where it becomes a pointer, so that a pointer of the program that an outside offset moves is none.
"""

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.ast_queries import without_casts
from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.pretty import text_of
from jarvis_workers.dataflow.reports import report
from jarvis_workers.dataflow.sizes import limits_of
from jarvis_workers.dataflow.types import type_of
from jarvis_workers.dataflow.values import PathEvent, Value

# The `kind` of a marked value.
ADDRESS = "@"
DEREFERENCED = 0.65
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
    return value._replace(kind=ADDRESS) if _reads_whole(value.taint) else value


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


def check_address(path: PathState, pointer: ir.Expression, value: Value, line: int) -> None:
    """Report the first use of an address from outside that nothing has compared."""
    if value.kind != ADDRESS or value.checked or path.machine.addressing or path.machine.quiet:
        return
    text = f"{text_of(pointer)} is an address from outside and is dereferenced"
    report(path, "flow_untrusted_pointer", line, text, since=value.taint, sure=DEREFERENCED)
