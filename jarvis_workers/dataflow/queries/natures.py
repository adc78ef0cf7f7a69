"""What kind of function a body makes: one whose calls are informative for any argument, or a test of its parameters."""

from collections.abc import Sequence
from typing import Any

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.queries.ast_queries import CALLS, compared_with_constant, variables_in, walk, without_casts
from jarvis_workers.dataflow.queries.name_heuristics import never_returns

EFFECTS = frozenset((ir.AssignExpr, ir.UpdateExpr, ir.DeleteExpr, *CALLS))
SMALL = 3
GIVERS = ("alloc", "dup", "open", "getenv", "fgets", "recv", "read", "scanf", "free", "new")


def nature(function: ir.LoweredFunction) -> tuple[bool, frozenset[str]]:
    """Return whether a call is informative for any argument, and the variables that the function names.

    It is if the function allocates, reads input or bytes, may return NULL, or exits.
    """
    body = function.body
    returned = [node.value for node in walk(body) if isinstance(node, ir.ReturnStmt)]
    constant = len(body) <= SMALL and all(
        isinstance(one, ir.ReturnStmt) and isinstance(one.value, ir.NumberExpr) for one in body
    )
    ends = any(isinstance(one, ir.ExprStmt) and _never_returns(one.value) for one in body)
    informs = any(gives(node) or _reads_bytes(node) for node in walk(body))
    return constant or ends or informs or _finds_nothing(function, returned), variables_in(body)


def _never_returns(e: ir.Expression) -> bool:
    return isinstance(e, ir.CallExpr) and isinstance(e.callee, ir.NameExpr) and never_returns(e.callee.name)


def gives(node: tuple[Any, ...]) -> bool:
    """Return whether a node is the call of a function that is named like one that allocates, opens or reads."""
    match node:
        case ir.CallExpr(callee=ir.NameExpr(name=name)):
            low = name.lower()
            return any(word in low for word in GIVERS)
    return isinstance(node, ir.NEWS)


def _finds_nothing(function: ir.LoweredFunction, returned: Sequence[ir.Expression | None]) -> bool:
    """Return whether a function returns NULL at times, 0 in place of a pointer, or a negative number beside others."""
    if any(isinstance(one, ir.NullExpr) for one in returned):
        return True
    names = {one.name for one in returned if isinstance(one, ir.NameExpr)}
    if not names:
        return False
    kinds = {one.name: one.type for one in function.params}
    nulls: set[str] = set()
    for node in walk(function.body):
        if isinstance(node, ir.DeclStmt):
            kinds[node.name] = node.type
            nulls |= {node.name} if isinstance(node.init, ir.NullExpr) else set()
        elif isinstance(node, ir.LoopStmt):
            nulls |= {one.name for one in compared_with_constant(node.condition) if isinstance(one, ir.NameExpr)}
    are_pointers = any(kinds.get(name, "").endswith("*") for name in names)
    if are_pointers:
        return ir.ZERO in returned or not names.isdisjoint(nulls)
    return any(is_negative(one) for one in returned)


def is_negative(e: ir.Expression | None) -> bool:
    """Return whether an expression is a negative constant."""
    match e:
        case ir.NumberExpr(value=value):
            return value < 0
        case ir.UnaryExpr(op="-", operand=ir.NumberExpr(value=value)):
            return value > 0
    return False


def _reads_bytes(node: tuple[Any, ...]) -> bool:
    """Return whether a node returns an element at a cursor that moves, or shifts an element to join it with others."""
    match node:
        case ir.ReturnStmt(value=ir.DerefExpr(pointer=ir.UpdateExpr())):
            return True
        case ir.ReturnStmt(value=ir.IndexExpr(subscript=ir.UpdateExpr())):
            return True
        case ir.BinaryExpr(op="<<" | "*", left=left):
            return isinstance(without_casts(left), (ir.IndexExpr, ir.DerefExpr))
    return False


def predicate(function: ir.LoweredFunction) -> ir.FunctionMacro | None:
    """Return a function as a macro if it consists of tests of its parameters and returns the outcome."""
    names = tuple(one.name for one in function.params)
    body = _outcome(function.body) if len(function.body) <= SMALL else None
    if body is None or not variables_in((body,)) <= {*names} or any(type(one) in EFFECTS for one in walk((body,))):
        return None
    return ir.FunctionMacro(names, body)


def _outcome(body: Sequence[ir.Statement]) -> ir.Expression | None:
    """Return what `if (a) return b; return c;` returns as an expression."""
    match body:
        case (ir.ReturnStmt(value=value),):
            return value
        case (ir.IfStmt(condition=condition, then=then, otherwise=otherwise), *rest):
            first, second = _outcome(then), _outcome((*otherwise, *rest))
            if first is not None and second is not None:
                return ir.ConditionalExpr("?:", condition, first, second)
    return None
