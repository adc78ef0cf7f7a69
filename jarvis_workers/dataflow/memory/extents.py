"""Sizes: `malloc(n * 4)` has room for n elements of 4 bytes, whatever n is; and what is left behind a pointer."""

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.events import on_member_outside
from jarvis_workers.dataflow.expressions.evaluate import evaluate, offset_in, span_of
from jarvis_workers.dataflow.queries.ast_queries import without_casts
from jarvis_workers.dataflow.state.path import Frame, PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.sizes import comparable
from jarvis_workers.dataflow.state.values import MEMORY, LinearExtent, Object, Place, Value

DEEP = 4
# The kinds of objects whose size is declared.
DECLARED = ("stack", "static", "field")


def extent_of(path: PathState, e: ir.Expression, deep: int = DEEP) -> LinearExtent | None:
    """Return an expression as a multiple of one local variable; None if it is anything else."""
    e = without_casts(e)
    if isinstance(e, ir.NameExpr):
        local = path.frame.types.get(e.name)
        return LinearExtent(local.place, 1, 0) if local is not None and not local.is_array else None
    if not isinstance(e, ir.BinaryExpr) or not deep or e.op not in ("+", "-", "*"):
        return None
    left, right = extent_of(path, e.left, deep - 1), extent_of(path, e.right, deep - 1)
    if left is not None and right is None:
        by = _constant(path, e.right)
    elif right is not None and left is None and e.op != "-":
        left, by = right, _constant(path, e.left)
    else:
        return None
    if left is None or by is None:
        return None
    if e.op == "*":
        return LinearExtent(left.variable, left.unit * by, left.extra * by) if by > 0 else None
    return left._replace(extra=left.extra + (by if e.op == "+" else -by))


def excess(room: LinearExtent, reach: LinearExtent) -> int | None:
    """Return by how many bytes at least `reach` exceeds `room`; None if it does not, or is not comparable."""
    if room.variable != reach.variable or reach.unit < room.unit:
        return None
    more = reach.extra - room.extra + (reach.unit - room.unit)
    return more if more > 0 else None


def forget_extents(path: PathState, place: Place) -> None:
    """Forget the sizes that are multiples of a variable whose value changes."""
    machine = path.machine
    if place in machine.execution.measures:
        for key, target in path.objects.items():
            if target.extent is not None and target.extent.variable == place:
                path.objects[key] = target._replace(extent=None)


def carry_extents(path: PathState, call: ir.CallExpr, callee: Frame) -> None:
    """Express sizes that are multiples of a parameter by the argument of the call that returns."""
    prefix = f"{callee.number}:"
    if not path.machine.execution.measures or not any(
        variable[0].startswith(prefix) for variable in path.machine.execution.measures
    ):
        return
    names = zip(callee.function.params, call.args, strict=False)
    arguments = {callee.types[parameter.name].place: part for parameter, part in names}
    for key, target in path.objects.items():
        extent = target.extent
        if extent is not None and extent.variable[0].startswith(prefix):
            part = arguments.get(extent.variable)
            given = extent_of(path, part) if part is not None else None
            path.objects[key] = target._replace(extent=_multiple(given, extent) if given is not None else None)
            if given is not None:
                path.machine.execution.measures.add(given.variable)


def _multiple(given: LinearExtent, extent: LinearExtent) -> LinearExtent:
    return LinearExtent(given.variable, given.unit * extent.unit, given.extra * extent.unit + extent.extra)


def _constant(path: PathState, e: ir.Expression) -> int | None:
    e = without_casts(e)
    if isinstance(e, (ir.NumberExpr, ir.SizeofExpr, ir.NameExpr)):
        reach = evaluate(path, e).range
        return reach[0] if is_exact(reach) else None
    return None


def is_declared(target: Object) -> bool:
    """Return whether memory has the size of a declaration, which no path changes."""
    return target.kind in DECLARED and not target.family and is_exact(target.size)


def room(value: Value, target: Object) -> int | None:
    """Return the number of bytes from a pointer to the end of its object; None if it is unknown."""
    size, (low, high) = target.size, value.at
    if size[0] is None or size[0] != size[1] or low is None or target.kind not in MEMORY:
        return None
    return size[0] - (high if high is not None and high == low else low)


def check_member(path: PathState, e: ir.Expression, place: Place, *, writing: bool) -> None:
    """Check that a member is inside of the memory that its struct is taken to be in."""
    target = path.objects.get(place[0])
    if target is None or target.kind not in MEMORY or not is_exact(target.size) or path.machine.mode.quiet:
        return
    at, span = offset_in(place), span_of(path, e)
    if at is None or span is None or target.size[0] is None or not comparable(at + span[1], target.size[0]):
        return
    if at + span[0] + span[1] > target.size[0]:
        on_member_outside.happens(path, e, target, at + span[0] + span[1], writing)
