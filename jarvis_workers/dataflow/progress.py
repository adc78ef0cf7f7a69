"""Loops that only proceed by an amount that the data says: an amount of 0 makes such a loop endless.

Typical are lists of options with a length each.  The amount is judged where it is added (in `numbers`), so that a test
of it on the same path counts; what a stream returns next time does not depend on the amount.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.ast_queries import assigned, variables_in, walk
from jarvis_workers.dataflow.loop_moves import Moves, tested

EFFECTS = (ir.CallExpr, ir.AssignExpr, ir.UpdateExpr)


def only_steps(statement: ir.LoopStmt, moves: Moves) -> Mapping[int, frozenset[str]]:
    """Return the ids of the assignments by which alone a loop proceeds, and the variables through which it then reads.

    All of these assignments add or subtract the same amount.
    """
    condition: Any = statement.condition
    if any(isinstance(node, EFFECTS) for node in walk((condition,))):
        return {}
    names = moves.inside if condition is None or isinstance(condition, ir.NumberExpr) else frozenset(tested(condition))
    moving = names & moves.carried
    turn = (statement.body, statement.step)
    steps = [
        node for node in walk(turn) if isinstance(node, ir.AssignExpr) and moves.steps.get(_name(node.target)) == {0}
    ]
    amount = next((node.value for node in steps if _name(node.target) in moving), None)
    uneven = {_name(node.target) for node in steps if not node.op or node.value != amount}
    cursors = frozenset(name for name in moves.carried if moves.steps.get(name) == {0}) - uneven
    if not moving or not moving <= cursors:
        return {}
    if _is_set_otherwise(turn, names - moving, cursors):
        return {}
    readers = cursors | {name for name, value in _values(turn) if cursors & variables_in((value,))}
    return {id(node): readers for node in steps if _name(node.target) in moving}


def _is_set_otherwise(turn: tuple[Any, ...], others: frozenset[str], cursors: frozenset[str]) -> bool:
    """Return whether a loop assigns another variable of its condition, or has other code move one of its own."""
    if any(_name(target) in others for target in assigned(turn)):
        return True
    return any(isinstance(node, ir.AddressExpr) and _name(node.operand) in cursors for node in walk(turn))


def _values(turn: tuple[Any, ...]) -> Iterator[tuple[str, ir.Expression]]:
    """Yield the variables that a loop assigns or declares, with their values."""
    for node in walk(turn):
        if isinstance(node, ir.AssignExpr) and not node.op:
            yield _name(node.target), node.value
        elif isinstance(node, ir.DeclStmt) and node.init is not None:
            yield node.name, node.init


def _name(e: ir.Expression) -> str:
    return e.name if isinstance(e, ir.NameExpr) else ""
