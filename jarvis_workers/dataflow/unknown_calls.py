"""Branches of NULL tests that only call code whose body is unknown: it may end the program."""

from collections.abc import Iterator, Sequence

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.ast_queries import assigned, walk, without_casts
from jarvis_workers.dataflow.context import AnalysisContext
from jarvis_workers.dataflow.library import LIBRARY
from jarvis_workers.dataflow.macro_expansion import MACROS_DEEP, unfolded
from jarvis_workers.dataflow.name_heuristics import prints

PLACES = (ir.NameExpr, ir.MemberExpr, ir.ArrowExpr, ir.DerefExpr, ir.IndexExpr)
NOTHING = (ir.NullExpr("null"), ir.ZERO)


def only_unknown_calls(machine: AnalysisContext, body: Sequence[ir.Statement]) -> ir.CallExpr | None:
    """Return a call of unknown code if a body contains nothing but calls, none of which gets an address; None if not.

    What prints is expected to return.
    """
    calls = _only_calls(machine, body, MACROS_DEEP)
    return next((call for call in calls or () if _is_unknown(machine, call)), None)


def _only_calls(machine: AnalysisContext, body: Sequence[ir.Statement], deep: int) -> list[ir.CallExpr] | None:
    calls: list[ir.CallExpr] = []
    for one in body:
        inner: list[ir.CallExpr] | None = None
        if isinstance(one, ir.BlockStmt):
            inner = _only_calls(machine, one.body, deep)
        elif isinstance(one, ir.ExprStmt):
            expanded = unfolded(machine, one) if deep > 0 else None
            if expanded is not None:
                inner = _only_calls(machine, expanded, deep - 1)
            elif isinstance(one.value, ir.CallExpr) and not _changes(one.value):
                inner = [one.value]
        if inner is None:
            return None
        calls += inner
    return calls


def _changes(call: ir.CallExpr) -> bool:
    """Return whether the arguments of a call contain an assignment or an address."""
    return bool(assigned(call.args)) or any(isinstance(node, ir.AddressExpr) for node in walk(call.args))


def _is_unknown(machine: AnalysisContext, call: ir.CallExpr) -> bool:
    if not isinstance(call.callee, ir.NameExpr):
        return True
    name = call.callee.name
    return name not in LIBRARY and not prints(name) and machine.function(name) is None


def compared_with_null(condition: ir.Expression | None) -> Iterator[ir.Expression]:
    """Yield the places in a condition that are compared with NULL, or whose value decides it."""
    match condition:
        case ir.AndExpr(left=left, right=right) | ir.OrExpr(left=left, right=right):
            yield from compared_with_null(left)
            yield from compared_with_null(right)
        case ir.UnaryExpr(op="!", operand=operand):
            yield from compared_with_null(operand)
        case ir.BinaryExpr(op="==" | "!=", left=left, right=right):
            yield from compared_with_null(left if right in NOTHING else right if left in NOTHING else None)
        case _ if condition is not None:
            place = without_casts(condition)
            if isinstance(place, PLACES):
                yield place
