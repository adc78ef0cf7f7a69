"""Checks of outside data that give no range: sums that are compared, and calls that judge their arguments."""

from collections.abc import Iterator

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.ast_queries import without_casts
from jarvis_workers.dataflow.evaluate import evaluate
from jarvis_workers.dataflow.library import LIBRARY
from jarvis_workers.dataflow.lvalues import place_quietly
from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.values import Place, Value

VARIABLES = frozenset((ir.NameExpr, ir.MemberExpr, ir.ArrowExpr))
GROWING = frozenset(("+", "*", "<<", "|"))
# Conditions are searched for calls up to this depth.
DEEP = 3


def limit_terms(path: PathState, compare: str, e: ir.Expression) -> None:
    """Record that the terms of a sum are bounded, given that `e compare ...` holds."""
    for term in _terms(e, upper=compare in ("<", "<=", "==")):
        _mark(path, term)


def judged(path: PathState, condition: ir.Expression, deep: int = DEEP) -> None:
    """Record that the arguments of the calls in a condition are checked by the called function."""
    if isinstance(condition, ir.CallExpr):
        if not isinstance(condition.callee, ir.NameExpr) or condition.callee.name not in LIBRARY:
            check_arguments(path, condition.args)
    elif deep and isinstance(condition, (ir.BinaryExpr, ir.AndExpr, ir.OrExpr)):
        judged(path, condition.left, deep - 1)
        judged(path, condition.right, deep - 1)
    elif deep and isinstance(condition, (ir.UnaryExpr, ir.CastExpr)):
        judged(path, condition.operand, deep - 1)


def check_arguments(path: PathState, parts: tuple[ir.Expression, ...]) -> None:
    for part in parts:
        for term in _terms(part, upper=True):
            _mark(path, term)


def _terms(e: ir.Expression, *, upper: bool) -> Iterator[ir.Expression]:
    """Yield the variables that a bound of an expression bounds."""
    e = without_casts(e)
    if type(e) in VARIABLES:
        if upper:
            yield e
    elif isinstance(e, ir.BinaryExpr) and e.op in GROWING:
        yield from _terms(e.left, upper=upper)
        yield from _terms(e.right, upper=upper)
    elif isinstance(e, ir.BinaryExpr) and e.op == "-":
        yield from _terms(e.left, upper=upper)
        yield from _terms(e.right, upper=not upper)


def _mark(path: PathState, e: ir.Expression) -> None:
    place = place_quietly(path, e)
    value = _value_at(path, place, e) if place is not None else None
    if place is None or value is None or value.checked:
        return
    memory = path.object_of(value)
    if value.taint is not None or (memory is not None and memory.taint is not None):
        path.cells[place] = value._replace(checked=True)


def _value_at(path: PathState, place: Place, e: ir.Expression) -> Value | None:
    """Return the value of a variable, or of a field that the path has not loaded since its struct was read."""
    value = path.cells.get(place)
    if value is not None or type(e) is ir.NameExpr:
        return value
    machine = path.machine
    before, machine.quiet = machine.quiet, True
    value = evaluate(path, e)
    machine.quiet = before
    return value
