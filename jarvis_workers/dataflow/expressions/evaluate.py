"""Evaluate expressions on a path, with their side effects.

Each kind of expression has its own function, registered with @evaluates; `function_analysis` imports all modules that
register such functions.
"""

from collections.abc import Callable
from typing import Any

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.memory.outside import cast_byte, cast_number
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.sizes import NUMBERS_WITH_FRACTIONS, is_in_units
from jarvis_workers.dataflow.state.types import fitted, type_of
from jarvis_workers.dataflow.state.values import ANY, NOT_NULL, NULL, UNKNOWN, Object, Place, Range, Value, number

Act = Callable[[PathState, Any], Value]
ACTS: dict[type, Act] = {}
# Limit of evaluations per function; an unreasonably large expression ends the analysis of its function.
EVALUATIONS = 60_000


class StepLimitReached(Exception):
    """A limit of the analysis of a function is reached, named by the message; this is not an error."""


def evaluates(*kinds: type) -> Callable[[Act], Act]:
    """Return a decorator that registers an evaluator for kinds of expressions."""

    def keep(act: Act) -> Act:
        ACTS.update(dict.fromkeys(kinds, act))
        return act

    return keep


def evaluate(path: PathState, e: ir.Expression | None) -> Value:
    """Return the value of an expression and apply its side effects to the path."""
    act = ACTS.get(type(e))
    if act is None:
        return ANY
    machine = path.machine
    machine.evaluated += 1
    if machine.evaluated > EVALUATIONS:
        raise StepLimitReached(f"it takes more than {EVALUATIONS:,} evaluations")
    return act(path, e)


def evaluate_all(path: PathState, parts: tuple[ir.Expression, ...]) -> list[Value]:
    return [evaluate(path, part) for part in parts]


@evaluates(ir.NumberExpr)
def _number(path: PathState, e: ir.NumberExpr) -> Value:
    return number(e.value)


@evaluates(ir.NullExpr)
def _null(path: PathState, e: ir.NullExpr) -> Value:
    return NULL


@evaluates(*ir.STRINGS)
def _text(path: PathState, e: ir.StringExpr | ir.LongStringExpr) -> Value:
    element = 4 if e.wide else 1
    key = f"t:{element}:{e.text}"
    if key not in path.objects:
        length = e.length
        size = (length + 1) * element
        path.objects[key] = Object("text", "", (size, size), element, (length, length), filled=length)
    return Value(target=key, null=NOT_NULL)


@evaluates(ir.CommaExpr)
def _comma(path: PathState, e: ir.CommaExpr) -> Value:
    value = ANY
    for part in e.parts:
        value = evaluate(path, part)
    return value


@evaluates(ir.UnaryExpr)
def _unary(path: PathState, e: ir.UnaryExpr) -> Value:
    value = evaluate(path, e.operand)
    low, high = value.range
    if e.op == "-":
        return Value((None if high is None else -high, None if low is None else -low), taint=value.taint)
    if e.op != "!":
        return ANY
    return number(int(low == 0)) if is_exact(value.range) else number(0, 1)


@evaluates(ir.CastExpr)
def _cast(path: PathState, e: ir.CastExpr) -> Value:
    value, kind = evaluate(path, e.operand), e.type
    if value.range == (0, 0) and kind.endswith("*") and not value.target:
        return value._replace(null=NULL.null)
    if kind in NUMBERS_WITH_FRACTIONS:
        return ANY
    if value is ANY:
        return cast_byte(path, e)
    if value.taint is not None and kind.endswith("*"):
        value = cast_number(path, e, value)
    return fitted(path, value, kind, cast=True)


# Arrays that are fields of structs: pointers into the struct, with a size of their own.

# A last field of at most this many elements is a common way to write a flexible array.
FLEXIBLE = 1
FIELDS = frozenset((ir.MemberExpr, ir.ArrowExpr))


def array_of(path: PathState, e: ir.Expression) -> tuple[int, Range] | None:
    """Return the size of an element and that of the whole array, if an expression is a field that is an array."""
    cache = path.machine.field_arrays
    if id(e) not in cache:
        cache[id(e)] = _array_of(path, e)
    return cache[id(e)]


def _array_of(path: PathState, e: ir.Expression) -> tuple[int, Range] | None:
    if not isinstance(e, (ir.MemberExpr, ir.ArrowExpr)):
        return None
    machine, owner = path.machine, type_of(path, e.base)
    record = machine.type_named(owner.rstrip("*&")) if owner else None
    field = record.fields.get(e.member) if record is not None else None
    if field is None or not field.dims:
        return None
    element, count = machine.size_of(field.type), 1
    for dim in field.dims:
        length = evaluate(path, dim).range if dim is not None else UNKNOWN
        low = length[0]
        if low is None or not is_exact(length) or low <= FLEXIBLE:
            return element, UNKNOWN
        count *= low
    return (element, (count * element,) * 2) if len(field.dims) == 1 else (element, UNKNOWN)


def span_of(path: PathState, e: ir.Expression) -> tuple[int, int] | None:
    """Return the offset of a member from the pointer or variable that it is reached by, and its size."""
    spans = path.machine.spans
    if id(e) not in spans:
        spans[id(e)] = _span_of(path, e)
    return spans[id(e)]


def _span_of(path: PathState, e: ir.Expression) -> tuple[int, int] | None:
    if not isinstance(e, (ir.MemberExpr, ir.ArrowExpr)):
        return None
    kind = type_of(path, e.base)
    layout = path.machine.layout_of(kind.removesuffix("*")) if kind else None
    span = layout.fields.get(e.member) if layout is not None else None
    around = span_of(path, e.base) if isinstance(e, ir.MemberExpr) and type(e.base) in FIELDS else (0, 0)
    return (around[0] + span[0], span[1]) if span is not None and around is not None else None


def offset_in(place: Place) -> int | None:
    """Return the offset of the struct that a member of an object is in; None if it is unknown."""
    offset, bracket, _ = place[1].removeprefix("[").partition("]")
    return int(offset) if bracket and place[1].startswith("[") and offset.isdigit() else None


def field_array(path: PathState, e: ir.Expression, place: Place | None) -> Value | None:
    """Return the pointer to the first element of a field that is an array; None for any other expression."""
    array = array_of(path, e)
    if array is None:
        return None
    element, size = array
    if place is None:
        key = f"f:{id(e)}"
        path.objects[key] = Object("field", size=size, element=element)
        return Value(target=key, null=NOT_NULL)
    key = place[0] + place[1]
    if key not in path.objects:
        whole, value = path.objects.get(place[0]), path.cells.get((place[0], ""), ANY)
        taint = whole.taint if whole is not None else None if value.target else value.taint
        kind = "stack" if place[0].partition(":")[0].isdigit() else "field"
        made = Object(kind, size=size, element=element, taint=taint)
        path.objects[key] = _inside(path, e, place, made, whole) if whole is not None else made
        path.machine.inner_arrays.setdefault(place[0], set()).add(key)
        path.machine.around[key] = place[0]
    return Value(target=key, null=NOT_NULL)


def _inside(path: PathState, e: ir.Expression, place: Place, made: Object, whole: Object) -> Object:
    """Return an array with no more room than the memory around it has, which is what a flexible one has."""
    at, span = offset_in(place), span_of(path, e)
    if at is None or span is None or whole.kind != "heap":
        return made
    if whole.extent is not None and made.size == UNKNOWN:
        return made._replace(extent=whole.extent._replace(extra=whole.extent.extra - at - span[0]), made=whole.made)
    if not is_exact(whole.size) or whole.size[0] is None or is_in_units(whole.size[0]):
        return made
    room = max(whole.size[0] - at - span[0], 0)
    if made.size[0] is None or room < made.size[0]:
        return made._replace(size=(room, room), made=whole.made)
    return made
