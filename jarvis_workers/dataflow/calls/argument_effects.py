"""What a call may have set of the variables and members that it gets, or whose addresses it gets."""

from jarvis_workers.dataflow.expressions.lvalues import place_quietly
from jarvis_workers.dataflow.ir.expr import ArrowExpr, Expression, IndexExpr, MemberExpr, NameExpr
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.sizes import limits_of
from jarvis_workers.dataflow.state.types import key_of, type_of
from jarvis_workers.dataflow.state.values import ANY, IS_NULL, Value


def maybe_set(path: PathState, part: Expression) -> None:
    """Treat an unset variable, or struct in an array, as set: a call may be a macro that assigns to its arguments."""
    if type(part) is NameExpr:
        cell = (key_of(path, part.name), "")
        for inside in [cell, *(one for one in path.cells if one[0] == cell[0] and one[1])]:
            if inside in path.cells and path.cells[inside].unset:
                path.cells[inside] = ANY
    elif type(part) in (MemberExpr, ArrowExpr):
        place = place_quietly(path, part)
        if place is not None and path.cells.get(place, ANY).unset:
            path.cells[place] = ANY
    elif type(part) is IndexExpr and type(part.base) is NameExpr:
        kind, key = type_of(path, part), key_of(path, part.base.name)
        target = path.objects.get(key)
        if target is not None and kind and not kind.endswith("*") and limits_of(path.machine.plain(kind)) is None:
            path.objects[key] = target._replace(unset_from=None)


def set_by_address(path: PathState, values: list[Value]) -> None:
    """Treat variables whose address is passed as set."""
    for value in values:
        cell = (value.target or "", value.code or "")
        for inside in [one for one in path.cells if one[0] == cell[0] and one[1].startswith(f"{cell[1]}.")]:
            if path.cells[inside].unset:
                path.cells[inside] = ANY
        current, target = path.cells.get(cell), path.objects.get(cell[0])
        if current is None and value.code and target is not None and target.unset_from is not None:
            path.cells[cell] = ANY
        if current is not None and (memory := path.object_of(current)) is not None and memory.freed is not None:
            path.cells[cell] = ANY
        if current is not None and target is None and (current.unset or current.null == IS_NULL):
            path.cells[cell] = ANY
