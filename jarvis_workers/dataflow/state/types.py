"""Static properties of expressions: type, element size, and object of a variable."""

from collections.abc import Callable
from typing import Any

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import arithmetic, meet
from jarvis_workers.dataflow.state.sizes import INT_MAX, LIMITS, UINT_MAX, is_signed, limits_of
from jarvis_workers.dataflow.state.values import ARBITRARY, IS_NULL, UNKNOWN, Object, Range, Value

Limits = tuple[int, int]
DEEP = 8
NUMBERS = (ir.NumberExpr, ir.BinaryExpr, ir.CastExpr, ir.SizeofExpr)
INTEGERS = [LIMITS[kind] for kind in ("int", "long", "unsigned long")]
COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!="))


def key_of(path: PathState, name: str) -> str:
    """Return the object name of a variable: `frame:name` if it is local, `g:name` if not."""
    frame = path.frame
    local = frame.types.get(name)
    if local is not None:
        return local.place[0]
    made = path.machine.globals.get(name)
    return f"g:{frame.file or ''}:{name}" if made is not None and "s" in made.flags else f"g:{name}"


def type_of(path: PathState, e: ir.Expression | None) -> str | None:
    """Return the static type of an expression; None if it is unknown."""
    read = TYPES.get(type(e))
    return read(path, e) if read else None


def _type_behind(path: PathState, pointer: ir.Expression) -> str | None:
    inner = type_of(path, pointer)
    return inner[:-1] if inner and inner.endswith("*") else None


def _type_of_address(path: PathState, e: ir.AddressExpr) -> str | None:
    inner = type_of(path, e.operand)
    return inner + "*" if inner else None


def _type_of_variable(path: PathState, e: ir.NameExpr) -> str | None:
    name = e.name
    local = path.frame.types.get(name)
    if local is not None:
        return local.kind + "*" if local.is_array else local.kind
    made = path.machine.globals.get(name)
    return made.type + "*" * bool(made.dims) if made is not None else None


def _type_of_member(path: PathState, e: ir.MemberExpr | ir.ArrowExpr) -> str | None:
    owner = type_of(path, e.base)
    record = path.machine.type_named(owner.rstrip("*&")) if owner else None
    field = record.fields.get(e.member) if record is not None else None
    if field is None:
        return None
    return field.type + "*" if field.dims else field.type


def is_own_member(path: PathState, e: ir.ArrowExpr) -> bool:
    """Return whether a member of a struct shares its memory with no other one."""
    kind = type_of(path, e.base)
    record = path.machine.type_named(kind.rstrip("*&")) if kind else None
    return record is not None and not record.union and e.member in record.fields and e.member not in record.shared


def is_row(path: PathState, e: ir.Expression) -> bool:
    """Return whether an expression is a row of an array of arrays."""
    if not isinstance(e, ir.IndexExpr):
        return False
    if isinstance(e.base, ir.NameExpr) and key_of(path, e.base.name) in path.machine.grids:
        return True
    kind = type_of(path, e)
    return kind is not None and path.machine.is_array(kind)


TYPES: dict[type, Callable[[PathState, Any], str | None]] = {
    ir.NameExpr: _type_of_variable,
    ir.MemberExpr: _type_of_member,
    ir.ArrowExpr: _type_of_member,
    ir.CastExpr: lambda _, e: str(e.type),
    ir.DerefExpr: lambda path, e: _type_behind(path, e.pointer),
    ir.IndexExpr: lambda path, e: _type_behind(path, e.base),
    ir.AddressExpr: _type_of_address,
    ir.BinaryExpr: lambda path, e: type_of(path, e.left) if e.op in "+-" else None,
    ir.SizeofExpr: lambda *_: "size_t",
    ir.AssignExpr: lambda path, e: type_of(path, e.target),
    ir.UpdateExpr: lambda path, e: type_of(path, e.operand),
    **dict.fromkeys(ir.STRINGS, lambda _, e: "wchar_t*" if e.wide else "char*"),
    **dict.fromkeys(ir.NEWS, lambda _, e: e.type + "*"),
}


def number_limits(path: PathState, e: ir.Expression, deep: int = DEEP) -> Limits | None:
    """Return the limits of the type of a number after the usual arithmetic conversions (C11 6.3.1); None if unknown."""
    parts: tuple[ir.Expression, ...] = ()
    match e:
        case ir.NumberExpr(value=value):
            return next((one for one in INTEGERS if one[0] <= value <= one[1]), None)
        case ir.BinaryExpr(op=op) if op in COMPARISONS:
            parts = (ir.ZERO,)
        case ir.BinaryExpr(op="<<" | ">>", left=inner) | ir.UnaryExpr(operand=inner):
            parts = (inner,)
        case ir.BinaryExpr(left=left, right=right) | ir.ConditionalExpr(then=left, otherwise=right):
            parts = (left, right)
        case ir.NameExpr(name=name) if name not in path.frame.types and name not in path.machine.globals:
            macro = path.machine.macro(name)
            parts = (macro,) if isinstance(macro, NUMBERS) else ()
    if parts and deep:
        return _converted([number_limits(path, part, deep - 1) for part in parts])
    kind = type_of(path, e)
    return limits_of(path.machine.plain(kind)) if kind else None


def _converted(kinds: list[Limits | None]) -> Limits | None:
    """Return the limits of the common type of operands, which is int at least and unsigned before signed."""
    typed = [limits for limits in kinds if limits is not None]
    if len(typed) < len(kinds):
        return None
    return max((*typed, LIMITS["int"]), key=lambda one: (one[1] - one[0], one[1]))


def possible(path: PathState, e: ir.Expression, value: Value) -> Range:
    """Return the range of a number, as the types in its expression limit it."""
    if None not in value.range:
        return value.range
    limits = _limits_of_parts(path, e)
    return meet(value.range, limits) if limits is not None else value.range


def _limits_of_parts(path: PathState, e: ir.Expression, deep: int = DEEP) -> Limits | None:
    """Return the least and greatest value of an expression by the types of its parts, if none of these overflows."""
    limits, inner = number_limits(path, e), None
    match e:
        case ir.NumberExpr(value=value):
            return value, value
        case ir.SizeofExpr(type=str() as kind):
            return path.machine.size_of(kind), path.machine.size_of(kind)
        case ir.CastExpr(operand=operand) if deep:
            inner = _limits_of_parts(path, operand, deep - 1)
        case ir.BinaryExpr(op=op, left=left, right=right) if deep:
            first, second = _limits_of_parts(path, left, deep - 1), _limits_of_parts(path, right, deep - 1)
            low, high = arithmetic(op, first, second) if first and second else UNKNOWN
            inner = (low, high) if low is not None and high is not None else None
    if inner is None or (limits is not None and (inner[0] < limits[0] or inner[1] > limits[1])):
        return limits
    return inner


def element_size(path: PathState, pointer: ir.Expression, target: Object | None = None) -> int:
    """Return the size in bytes of the element that a pointer points to."""
    kind = type_of(path, pointer)
    if kind and kind.endswith("*"):
        return path.machine.size_of(kind[:-1])
    return target.element if target else 1


def fitted(path: PathState, value: Value, kind: str, *, cast: bool = False) -> Value:
    """Convert a number to a type: a range that does not fit becomes that of the type, except on signed overflow."""
    if value.target or (value.range == UNKNOWN and value.taint is None):
        return value
    bounds = limits_of(path.machine.plain(kind))
    if bounds is None:
        return value._replace(null=IS_NULL) if value.range == (0, 0) and kind.endswith("*") else value
    if value.range == UNKNOWN:
        # Signed limits would count as bounds of an index or length.
        return value._replace(range=bounds) if bounds[0] == 0 and bounds[1] <= UINT_MAX else value
    low, high = value.range
    if _becomes_negative(value, bounds):
        return value._replace(range=UNKNOWN)
    if (low is not None and low < bounds[0]) or (high is not None and high > bounds[1]):
        # What a check has limited before may have wrapped around.
        checked = value.checked and (bounds[0] < 0 or low is None or low >= 0)
        return value._replace(range=bounds if not is_signed(kind) or cast else value.range, checked=checked)
    return value


def _becomes_negative(value: Value, bounds: tuple[int, int]) -> bool:
    """Return whether an outside number of 32 bits is negative in a signed type, if its highest bit is set."""
    low, high = value.range
    if value.taint is None or value.taint.note.endswith(ARBITRARY) or value.checked or low is None or low < 0:
        return False
    if bounds[0] == 0 or bounds[1] > INT_MAX:
        return False
    return high is None or high > bounds[1]
