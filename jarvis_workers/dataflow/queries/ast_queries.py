"""Syntactic queries on code: its calls, assigned places, conditions and size."""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from jarvis_workers.dataflow import ir

# The fields of each kind of statement that are expressions.
OWN_PARTS: dict[Any, Callable[[Any], Any]] = {
    ir.ExprStmt: attrgetter("value"),
    ir.DeclStmt: attrgetter("dims", "init"),
    ir.IfStmt: attrgetter("condition"),
    ir.SwitchStmt: attrgetter("subject"),
    ir.ReturnStmt: attrgetter("value"),
    ir.RangeForStmt: attrgetter("container"),
    ir.ThrowStmt: attrgetter("value"),
}
# The bodies nested in each kind of statement that has any.
BODIES: dict[Any, Callable[[Any], Sequence[Sequence[ir.Statement]]]] = {
    ir.IfStmt: attrgetter("then", "otherwise"),
    **dict.fromkeys((ir.LoopStmt, ir.RangeForStmt, ir.BlockStmt), lambda one: (one.body,)),
    ir.SwitchStmt: lambda one: [group.body for group in one.groups],
    ir.TryStmt: lambda one: (one.body, *one.handlers),
}
CONDITIONAL = frozenset((ir.AndExpr, ir.OrExpr, ir.ConditionalExpr))
# The types of values that contain no nodes.
HOLLOW = ir.LEAVES | {str, int, bool, float, type(None)}
CALLS = frozenset((ir.CallExpr, ir.ConstructExpr, *ir.NEWS))
OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
ORDERED = frozenset(("<", "<=", ">", ">="))
JUMPS = (ir.ReturnStmt, ir.GotoStmt, ir.BreakStmt, ir.ContinueStmt, ir.ThrowStmt)
PLACES = (ir.NameExpr, ir.MemberExpr, ir.ArrowExpr, ir.DerefExpr, ir.IndexExpr)


def walk(code: Any) -> Iterator[tuple[Any, ...]]:
    """Yield every node in statements and expressions except leaves; the input may be a tuple of nodes."""
    stack = [code] if isinstance(code, tuple) else []
    push = stack.append
    while stack:
        node = stack.pop()
        if type(node) is not tuple:
            yield node
        for part in node:
            if type(part) not in HOLLOW:
                push(part)


def leaves(code: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the names, constants and unknown parts in statements and expressions, in any order."""
    stack = [(code,)]
    while stack:
        for part in stack.pop():
            kind = type(part)
            if kind in ir.LEAVES:
                yield part
            elif kind not in HOLLOW:
                stack.append(part)


def calls_in(statement: ir.Statement) -> list[ir.Expression]:
    """Return the calls in a statement's own expressions, inner calls first."""
    result: list[ir.Expression] = []
    parts = OWN_PARTS.get(type(statement))
    if parts is not None:
        _calls(parts(statement), result)
    return result


def _calls(code: Any, calls: list[ir.Expression]) -> None:
    """Collect calls, except in operands that short-circuit evaluation may skip: these must not be followed early."""
    kind = type(code)
    if kind in HOLLOW:
        return
    if kind in CONDITIONAL:
        _calls(code.condition if kind is ir.ConditionalExpr else code.left, calls)
        return
    for part in code:
        if type(part) not in HOLLOW:
            _calls(part, calls)
    if kind in CALLS:
        calls.append(code)


def assigned(code: tuple[Any, ...]) -> list[ir.Expression]:
    """Return the lvalues assigned in a piece of code, without duplicates."""
    result: dict[ir.Expression, None] = {}
    for node in walk(code):
        if isinstance(node, ir.AssignExpr):
            result.setdefault(node.target)
        elif isinstance(node, ir.UpdateExpr):
            result.setdefault(node.operand)
    return list(result)


def moves_subscript(function: ir.LoweredFunction, e: ir.Expression) -> bool:
    """Return whether a subscript in an expression contains a variable that a loop of the function assigns."""
    names = variables_in(tuple([node.subscript for node in walk(e) if isinstance(node, ir.IndexExpr)]))
    return bool(names) and any(
        isinstance(target, ir.NameExpr) and target.name in names
        for loop in walk(function.body)
        if isinstance(loop, ir.LoopStmt)
        for target in assigned((loop.condition, loop.step, loop.body))
    )


def variables_in(code: tuple[Any, ...]) -> frozenset[str]:
    """Return the names of the variables in a piece of code."""
    return frozenset([leaf.name for leaf in leaves(code) if isinstance(leaf, ir.NameExpr)])


def alias_of(macro: Any) -> str | None:
    """Return the function that a macro without parameters names, or calls after other effects: `(*(g(), f))`."""
    match macro:
        case ir.NameExpr(name=name) | ir.DerefExpr(pointer=ir.CommaExpr(parts=(*_, ir.NameExpr(name=name)))):
            return name
    return None


def compared_with_constant(condition: ir.Expression | None) -> Iterator[ir.Expression]:
    """Yield the places in a condition that are compared with NULL or a number, or whose value decides it."""
    match condition:
        case ir.AndExpr(left=left, right=right) | ir.OrExpr(left=left, right=right):
            yield from compared_with_constant(left)
            yield from compared_with_constant(right)
        case ir.UnaryExpr(op="!", operand=operand):
            yield from compared_with_constant(operand)
        case ir.BinaryExpr(op=op, left=left, right=right) if op in OPPOSITE:
            yield from compared_with_constant(left if is_constant(right) else right if is_constant(left) else None)
        case _ if condition is not None:
            place = without_casts(condition)
            if isinstance(place, PLACES):
                yield place


def is_constant(e: ir.Expression) -> bool:
    return isinstance(e.operand if isinstance(e, ir.UnaryExpr) else e, (ir.NumberExpr, ir.NullExpr))


def without_casts(e: ir.Expression) -> ir.Expression:
    """Return the operand of casts and the target of assignments."""
    while True:
        if type(e) is ir.CastExpr:
            e = e.operand
        elif type(e) is ir.AssignExpr:
            e = e.target
        else:
            return e


def size_of_function(function: ir.LoweredFunction, most: int) -> int:
    """Return the number of statements of a function; any number above `most` if there are more than `most`."""
    size = 0
    blocks: list[Sequence[ir.Statement]] = [function.body]
    while blocks and size <= most:
        statements = blocks.pop()
        size += len(statements)
        for one in statements:
            blocks.extend(bodies(one))
    return size


def bodies(statement: ir.Statement) -> Sequence[Sequence[ir.Statement]]:
    """Return the bodies nested directly in a statement."""
    nested = BODIES.get(type(statement))
    return nested(statement) if nested is not None else ()


def items_in(init: ir.InitListExpr) -> int | None:
    """Return the number of elements that an initializer gives an array; None where it names them, or a macro may."""
    items = init.items
    if any(isinstance(item, (ir.DesignatedExpr, ir.UnknownExpr, ir.CallExpr)) for item in items):
        return None
    return None if len(items) == 1 and isinstance(items[0], ir.NameExpr) else len(items)


def holds_label(statement: ir.Statement, labels: dict[str, Any]) -> bool:
    """Return whether a statement contains one of the labels."""
    return any(
        (isinstance(one, ir.LabelStmt) and one.label in labels) or holds_label(one, labels)
        for body in bodies(statement)
        for one in body
    )
