"""Buffers that a function receives with their length, and reads before it looks at the length.

Such a pair is a pointer parameter followed by an integer that the function treats as its length: it compares it, or
hands both on together.  Before the first test nothing is known about the length; a test for 0 only promises one byte.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.queries.ast_queries import OPPOSITE, OWN_PARTS, variables_in, walk
from jarvis_workers.dataflow.queries.name_heuristics import judges
from jarvis_workers.dataflow.state.sizes import BYTES, limits_of

NEVER = 1 << 30
# A length of one byte is rare, and a number that small is mostly something else.
LEAST_LENGTH = 255


class CountedBuffer(NamedTuple):
    """The length of a buffer, the line of the first test of it, and that of the first comparison with more than 0."""

    length: str
    tested: int
    compared: int


def counted_buffers(function: ir.LoweredFunction, plain: Any) -> dict[str, CountedBuffer]:
    """Return the parameters that are buffers with a length, by name; `plain` resolves the names of types."""
    result = {}
    for pointer, length in zip(function.params, function.params[1:], strict=False):
        bounds = limits_of(plain(length.type))
        if bounds is None or bounds[1] <= LEAST_LENGTH or not pointer.type.endswith("*"):
            continue
        if plain(pointer.type[:-1]) in BYTES and _is_length(function, pointer.name, length.name):
            result[pointer.name] = _tests_of(function, length.name)
    return result


def _is_length(function: ir.LoweredFunction, pointer: str, length: str) -> bool:
    """Return whether a function compares a number or passes it behind the pointer, and never scales it."""
    used = False
    for node in walk(function.body):
        if isinstance(node, ir.BinaryExpr):
            if node.op in ("*", "<<", "&", "|") and length in variables_in((node.left, node.right)):
                return False
            used = used or (node.op in ("<", "<=", ">", ">=") and length in variables_in((node.left, node.right)))
        elif isinstance(node, ir.IndexExpr):
            if length in variables_in((node.subscript,)):
                return False
        elif isinstance(node, ir.CallExpr):
            used = used or any(
                pointer in variables_in((first,)) and isinstance(second, ir.NameExpr) and second.name == length
                for first, second in zip(node.args, node.args[1:], strict=False)
            )
    return used


def _tests_of(function: ir.LoweredFunction, length: str) -> CountedBuffer:
    tested = compared = NEVER
    for statement in walk(function.body):
        for condition in _conditions(statement):
            kind = _test(condition, length)
            line: int = statement.line  # type: ignore[attr-defined]
            tested = min(tested, line) if kind else tested
            compared = min(compared, line) if kind > 1 else compared
    return CountedBuffer(length, tested, compared)


def _conditions(statement: tuple[Any, ...]) -> Iterator[Any]:
    """Yield the conditions of a statement, and whatever an assertion or an unknown macro may test."""
    if isinstance(statement, (ir.IfStmt, ir.LoopStmt)):
        yield statement.condition
    elif isinstance(statement, ir.SwitchStmt):
        yield ir.BinaryExpr("b", "<", statement.subject, statement.subject)
    parts = OWN_PARTS.get(type(statement))
    for node in walk((parts(statement),)) if parts is not None else ():
        if isinstance(node, ir.ConditionalExpr):
            yield node.condition
        elif isinstance(node, ir.CallExpr) and isinstance(node.callee, ir.NameExpr):
            name = node.callee.name
            if name.isupper() or judges(name):
                yield ir.BinaryExpr("b", "<", ir.ZERO, ir.CallExpr("c", node.callee, node.args, node.line))
        elif isinstance(node, ir.BinaryExpr) and node.op in OPPOSITE:
            yield node


def _test(condition: Any, length: str) -> int:
    """Return 2 if a condition compares a length, 1 if it only tests whether it is 0, and 0 if it does not name it."""
    if condition is None or length not in variables_in((condition,)):
        return 0
    if isinstance(condition, (ir.AndExpr, ir.OrExpr)):
        return max(_test(condition.left, length), _test(condition.right, length))
    while isinstance(condition, (ir.UnaryExpr, ir.CastExpr, ir.UpdateExpr)):
        condition = condition.operand
    if (
        isinstance(condition, ir.BinaryExpr)
        and condition.op in OPPOSITE
        and ir.ZERO in (condition.left, condition.right)
    ):
        return _test(condition.left if condition.right == ir.ZERO else condition.right, length)
    return 1 if isinstance(condition, ir.NameExpr) else 2
