"""What the code of a loop says about its length: the variables that it moves, and those that its conditions test."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.ast_queries import OPPOSITE, walk

CONTENT = frozenset((ir.DerefExpr, ir.IndexExpr))
INPUTS = frozenset(("getc", "fgetc", "getchar", "getwc", "fgetwc", "getwchar"))
FURTHEST = 8


class Moves(NamedTuple):
    """The variables that a loop moves in one direction, those that its conditions test, and what its length depends on.

    `inside` are those that conditions in its body test.  `content` are the memory accesses and input calls in the
    condition of the loop; `countdown` is the variable that the condition counts down.
    """

    moved: dict[str, int]
    tested: frozenset[str]
    inside: frozenset[str]
    content: tuple[ir.Expression, ...]
    countdown: ir.Expression | None


def moves_of(statement: ir.LoopStmt) -> Moves:
    turn = (statement.body, statement.step, statement.condition)
    moved: dict[str, int] = {}
    for node in walk(turn):
        name, step = _move(node)
        if name:
            moved[name] = step if moved.get(name, step) == step else 0
    conditions = [
        node.condition
        for node in walk(statement.body)
        if isinstance(node, (ir.IfStmt, ir.LoopStmt, ir.ConditionalExpr))
    ]
    inside = frozenset(name for condition in conditions for name in tested(condition))
    return Moves(
        {name: step for name, step in moved.items() if step},
        inside.union(tested(statement.condition)),
        inside,
        tuple(node for node in walk((statement.condition,)) if _is_content(node)),
        _countdown(statement.condition),
    )


def _move(node: tuple[Any, ...]) -> tuple[str, int]:
    """Return the variable that a node moves, and its direction; 0 for any other assignment."""
    if isinstance(node, ir.UpdateExpr) and isinstance(node.operand, ir.NameExpr):
        return node.operand.name, 1 if node.op == "+" else -1
    if isinstance(node, ir.AssignExpr) and isinstance(node.target, ir.NameExpr):
        by = node.value
        if node.op in ("+", "-") and isinstance(by, ir.NumberExpr) and 0 < by.value <= FURTHEST:
            return node.target.name, 1 if node.op == "+" else -1
        return node.target.name, 0
    return "", 0


def tested(e: Any) -> Iterator[str]:
    """Yield the variables whose value a condition tests, but not those that it only reads memory through."""
    if isinstance(e, ir.NameExpr):
        yield e.name
    elif isinstance(e, ir.AssignExpr):
        yield from tested(e.target)
        yield from tested(e.value)
    elif isinstance(e, (ir.BinaryExpr, ir.AndExpr, ir.OrExpr)):
        yield from tested(e.left)
        yield from tested(e.right)
    elif isinstance(e, (ir.UnaryExpr, ir.CastExpr, ir.UpdateExpr)):
        yield from tested(e.operand)
    elif isinstance(e, ir.CommaExpr):
        for part in e.parts:
            yield from tested(part)
    elif isinstance(e, ir.CallExpr):
        for part in e.args:
            yield from tested(part)


def _is_content(node: tuple[Any, ...]) -> bool:
    if isinstance(node, ir.CallExpr):
        return isinstance(node.callee, ir.NameExpr) and node.callee.name in INPUTS
    return type(node) in CONTENT


def _countdown(e: ir.Expression | None) -> ir.Expression | None:
    """Return n of the conditions `n--`, `--n`, `n-- > 0` and `--n >= 0`."""
    if isinstance(e, ir.BinaryExpr) and e.op in OPPOSITE and e.right == ir.ZERO:
        e = e.left
    return e.operand if isinstance(e, ir.UpdateExpr) and e.op == "-" else None
