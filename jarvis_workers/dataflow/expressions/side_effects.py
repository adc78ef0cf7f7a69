"""Effects of code that is executed on some paths of an expression, or in a callee whose result says whether it was."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.expressions.lvalues import place_quietly
from jarvis_workers.dataflow.memory.pointers import escape
from jarvis_workers.dataflow.queries.ast_queries import assigned, walk
from jarvis_workers.dataflow.queries.name_heuristics import tells_success
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.values import ANY, IS_NULL, NOT_NULL, Value

VARIABLES = frozenset((ir.NameExpr, ir.MemberExpr, ir.ArrowExpr))


class SideEffects(NamedTuple):
    """The variables that an expression assigns to, and whether it calls functions."""

    variables: tuple[ir.Expression, ...]
    calls: bool


def keep_effects(path: PathState, e: ir.Expression, outcomes: Iterable[PathState]) -> None:
    """Apply the side effects of an expression whose operands were evaluated on copies of the path."""
    effects = path.machine.once(e, lambda: _effects_of(e), "effects")
    if not effects.variables and not effects.calls:
        return
    alive = [one for one in outcomes if not one.ended]
    if not alive:
        return
    if len(alive) == 1:
        one = alive[0]
        path.cells, path.objects, path.facts = one.cells, one.objects, one.facts
        return
    for cell, current in list(path.cells.items()):
        after = [one.cells.get(cell, ANY) for one in alive]
        if (current.unset and not all(one.unset for one in after)) or (
            current.null == IS_NULL and any(one.null != IS_NULL for one in after)
        ):
            path.cells[cell] = ANY
    for key, target in list(path.objects.items()):
        memory = [one.objects.get(key) for one in alive]
        if target.unset_from is not None and any(one is None or one.unset_from != target.unset_from for one in memory):
            path.objects[key] = target._replace(unset_from=None)
    for variable in effects.variables:
        _join(path, variable, alive)


def _effects_of(e: ir.Expression) -> SideEffects:
    variables = tuple([one for one in assigned((e,)) if type(one) in VARIABLES])
    return SideEffects(variables, any(isinstance(node, ir.CallExpr) for node in walk((e,))))


def _join(path: PathState, variable: ir.Expression, alive: list[PathState]) -> None:
    place = place_quietly(path, variable)
    if place is None:
        return
    values = [one.cells.get(place, ANY) for one in alive]
    for value in values:
        escape(path, value)
    path.cells[place] = values[0] if all(value == values[0] for value in values) else ANY


def forget_outputs(path: PathState, values: Sequence[Value]) -> None:
    """Forget that a callee has left the variables unset or NULL whose addresses it got, and returned what is not known.

    The caller tells from the result whether they are set, but which result belongs to this path is not known.
    """
    result = path.returned
    low, high = result.range
    is_known = is_exact(result.range) or (low or 0) > 0 or (high is not None and high < 0)
    is_code = result.kind is not None and tells_success(result.kind)
    if is_known or is_code or result.null in (NOT_NULL, IS_NULL) or result.target is not None:
        return
    for key in {value.target for value in values if value.target is not None and value.null == NOT_NULL}:
        for cell in path.cells_of(key):
            if path.cells[cell].unset or path.cells[cell].null == IS_NULL:
                path.cells[cell] = ANY
        target = path.objects.get(key)
        if target is not None and target.unset_from is not None:
            path.objects[key] = target._replace(unset_from=None)
