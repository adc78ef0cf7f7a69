"""Arrays that are fields of structs: pointers into the struct, with a size of their own."""

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.expressions.evaluate import evaluate
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.types import type_of
from jarvis_workers.dataflow.state.values import ANY, NOT_NULL, UNKNOWN, Object, Place, Range, Value

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
        path.objects[key] = Object(kind, size=size, element=element, taint=taint)
        path.machine.inner_arrays.setdefault(place[0], set()).add(key)
    return Value(target=key, null=NOT_NULL)
