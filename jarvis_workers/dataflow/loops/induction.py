"""Recognize counting loops: `i < n` with `i++`, in the loop head or once in the body."""

from typing import Any, NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.loops.loop_moves import Moves, moves_of
from jarvis_workers.dataflow.queries.ast_queries import assigned, walk

LONGEST_STRIDE = 8
UP = frozenset(("<", "<=", "!="))
DOWN = frozenset((">", ">=", "!="))


class LoopFacts(NamedTuple):
    """Cached properties of a loop: its counter, all places that it assigns to, and these places without the counter."""

    counter: "Counter | None"
    changed: list[ir.Expression]
    beside: list[ir.Expression]
    moves: Moves


class Counter(NamedTuple):
    """The induction variable of a loop, the comparison with its bound, and its step, negative when counting down."""

    variable: ir.Expression
    compare: str
    end: ir.Expression
    step: int


def loop_of(statement: ir.LoopStmt) -> LoopFacts:
    """Return the properties of a loop."""
    turn = (statement.body, statement.step)
    counter = _counter_of(statement.condition, turn) if statement.form != "do" else None
    in_turn, moves = assigned(turn), moves_of(statement)
    beside = [one for one in in_turn if counter is None or one != counter.variable]
    changed = list(dict.fromkeys(in_turn + assigned((statement.condition,))))
    return LoopFacts(counter, changed, beside, moves)


def _counter_of(condition: ir.Expression | None, turn: tuple[Any, ...]) -> Counter | None:
    """Return the counter of a loop if its only update is one constant increment."""
    if not isinstance(condition, ir.BinaryExpr) or condition.op not in UP | DOWN:
        return None
    _, compare, left, right = condition
    if not isinstance(left, (ir.NameExpr, ir.MemberExpr, ir.ArrowExpr)):
        return None
    moves = [move for move in (_move(node, left) for node in walk(turn)) if move is not None]
    if len(moves) != 1 or moves[0] == 0:
        return None
    return Counter(left, compare, right, moves[0]) if compare in (UP if moves[0] > 0 else DOWN) else None


def _move(node: tuple[Any, ...], variable: ir.Expression) -> int | None:
    """Return the increment of a variable, 0 for any other assignment to it, None if the node does not assign to it."""
    if isinstance(node, ir.UpdateExpr) and node.operand == variable:
        return 1 if node.op == "+" else -1
    if isinstance(node, ir.AssignExpr) and node.target == variable:
        amount = node.value
        if node.op in ("+", "-") and isinstance(amount, ir.NumberExpr) and 0 < amount.value <= LONGEST_STRIDE:
            return amount.value if node.op == "+" else -amount.value
        return 0
    return None
