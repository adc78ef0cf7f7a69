"""Read the loops that count: `i < n` with `i++`, in the head or once in the body."""

from typing import Any, NamedTuple

from jarvis_workers.dataflow.ast_queries import assigned, walk
from jarvis_workers.dataflow.values import Expression, Statement

__all__ = ["Counter", "LoopFacts", "loop_of"]

LONGEST_STRIDE = 8
UP = frozenset(("<", "<=", "!="))
DOWN = frozenset((">", ">=", "!="))


class LoopFacts(NamedTuple):
    """What is worked out once of a loop: its counter, what it changes, and what of that is not the counter."""

    counter: "Counter | None"
    changed: list[Expression]
    beside: list[Expression]


class Counter(NamedTuple):
    """A loop that counts: its variable, the comparison with its end, and by how much it goes up, or down."""

    variable: Expression
    compare: str
    end: Expression
    step: int


def loop_of(statement: Statement) -> LoopFacts:
    """Read a loop."""
    _, _, kind, _, condition, step, body = statement
    counter = _counter_of(condition, step, body) if kind != "do" else None
    beside = [one for one in assigned([body, step]) if counter is None or one != counter.variable]
    return LoopFacts(counter, assigned([body, step, condition]), beside)


def _counter_of(condition: Any, step: Any, body: list[Any]) -> Counter | None:
    """Return the counter of a loop that moves it by one small amount, in one place."""
    if not condition or condition[0] != "b" or condition[1] not in UP | DOWN:
        return None
    _, compare, left, right = condition
    if left[0] not in ("v", ".", "->"):
        return None
    moves = [move for move in (_move(node, left) for node in walk([body, step])) if move is not None]
    if len(moves) != 1 or moves[0] == 0:
        return None
    return Counter(left, compare, right, moves[0]) if compare in (UP if moves[0] > 0 else DOWN) else None


def _move(node: list[Any], variable: Expression) -> int | None:
    """Return by how much a variable is moved, 0 for any other assignment, None if it is not assigned here."""
    if node[0] == "++" and len(node) == 4 and node[3] == variable:
        return 1 if node[1] == "+" else -1
    if node[0] == "=" and len(node) > 3 and node[2] == variable:
        amount = node[3]
        if node[1] in ("+", "-") and amount[0] == "n" and 0 < amount[1] <= LONGEST_STRIDE:
            return int(amount[1]) if node[1] == "+" else -int(amount[1])
        return 0
    return None
