"""flow_endless_loop: a loop only proceeds by an amount that the data says, which may be 0.

Typical are lists of options with a length each.  The amount is judged where it is added, so that a test
of it on the same path counts; what a stream returns next time does not depend on the amount.  Checks that give no
range make the loop safe as a whole: a counter of its own, a comparison of the cursor with its position before, a test
behind the step, and a call in a condition that gets the amount.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.events import on_step
from jarvis_workers.dataflow.loops.loop_moves import CONTENT, SEARCHES, Moves, tested
from jarvis_workers.dataflow.queries.ast_queries import OPPOSITE, assigned, leaves, variables_in, walk, without_casts
from jarvis_workers.dataflow.queries.condition_queries import atomic_conditions
from jarvis_workers.dataflow.queries.name_heuristics import judges, never_returns
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import FlowRule, PathState
from jarvis_workers.dataflow.state.values import NOT_NULL, Value

RULE = FlowRule("flow_endless_loop")
NO_PROGRESS = 0.66
EFFECTS = (ir.CallExpr, ir.AssignExpr, ir.UpdateExpr)
EXITS = (ir.BreakStmt, ir.ReturnStmt, ir.GotoStmt, ir.ThrowStmt)
EQUALITY = frozenset(("==", "!="))
ONE = ir.NumberExpr("n", 1)


class Progress(NamedTuple):
    """How a loop proceeds: its cursors with the variables computed from them, and what it adds, with its values."""

    positions: frozenset[str]
    amounts: tuple[ir.Expression, ...]


@on_step
def _added(path: PathState, e: ir.AssignExpr, old: Value, by: Value) -> None:
    """Report a step of a loop by an outside number that may be 0 and that it reads at its cursor."""
    low = by.range[0]
    if by.taint is None or by.null == NOT_NULL or by.target or low is None or low > 0:
        return
    if _readers(path, e) & variables_in((by.taint.about,)):
        text = f"{text_of(e.value)} may be 0, and then the loop does not proceed"
        RULE.report(path, path.machine.execution.line, text, since=by.taint, sure=NO_PROGRESS)


def _readers(path: PathState, e: ir.AssignExpr) -> frozenset[str]:
    """Return the variables through which a loop reads that only proceeds by an assignment; none if there is no such."""
    for loop in reversed(path.machine.mode.loops):
        moves = path.machine.loops[id(loop)].moves
        steps = path.machine.once(loop, partial(_only_steps, loop, moves), "only steps")
        if id(e) in steps:
            return steps[id(e)]
    return frozenset()


def _only_steps(statement: ir.LoopStmt, moves: Moves) -> Mapping[int, frozenset[str]]:
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
    if amount is None or not moving or not moving <= cursors:
        return {}
    if _is_set_otherwise(turn, names - moving, cursors) or _reads_at(condition, cursors):
        return {}
    values = list(_values(turn))
    positions = cursors.union(name for name, value in values if cursors.intersection(tested(value)))
    if _is_guarded(turn, moves, Progress(positions, _amounts(without_casts(amount), values))):
        return {}
    readers = cursors | {name for name, value in values if cursors & variables_in((value,))}
    return {id(node): readers for node in steps if _name(node.target) in moving}


def _amounts(amount: ir.Expression, values: Sequence[tuple[str, ir.Expression]]) -> tuple[ir.Expression, ...]:
    """Return the amount and, if it is a variable, the values that the loop gives it."""
    own = [without_casts(value) for name, value in values if name and name == _name(amount)]
    return amount, *(value for value in own if not isinstance(value, ir.NumberExpr))


def _is_set_otherwise(turn: tuple[Any, ...], others: frozenset[str], cursors: frozenset[str]) -> bool:
    """Return whether a loop assigns another variable of its condition, or has other code move one of its own."""
    if any(_name(target) in others for target in assigned(turn)):
        return True
    return any(isinstance(node, ir.AddressExpr) and _name(node.operand) in cursors for node in walk(turn))


def _reads_at(condition: ir.Expression | None, cursors: frozenset[str]) -> bool:
    """Return whether a condition reads memory at one of the cursors."""
    return any(
        type(node) in CONTENT or isinstance(node, ir.ArrowExpr)
        for node in walk((condition,))
        if cursors & variables_in((node,))
    )


def _is_guarded(turn: tuple[Any, ...], moves: Moves, progress: Progress) -> bool:
    """Return whether an amount of 0 is replaced, or a condition ends the loop that it, or a counter, may make true."""
    counters = moves.moved.keys() - progress.positions
    for node in walk(turn):
        if isinstance(node, ir.ConditionalExpr) and _replaces(node, progress.amounts):
            return True
        if not isinstance(node, ir.IfStmt) or not _leaves_loop(node):
            continue
        if counters.intersection(tested(node.condition)):
            return True
        if any(_checks(part, progress) for part in atomic_conditions(node.condition)):
            return True
    return False


def _replaces(e: ir.ConditionalExpr, amounts: tuple[ir.Expression, ...]) -> bool:
    """Return whether a choice is an amount, or part of one, and its condition compares one of the alternatives."""
    if not any(_contains(amount, e) for amount in amounts):
        return False
    return any(_contains(e.condition, without_casts(one)) for one in (e.then, e.otherwise))


def _leaves_loop(statement: ir.IfStmt) -> bool:
    return any(
        isinstance(node, EXITS)
        or (isinstance(node, ir.CallExpr) and isinstance(node.callee, ir.NameExpr) and never_returns(node.callee.name))
        for node in walk((statement.then, statement.otherwise))
    )


def _checks(e: ir.Expression, progress: Progress) -> bool:
    """Return whether a condition without && and || tests an amount for 0, compares positions, or calls a check."""
    match e:
        case ir.BinaryExpr(op=op, left=left, right=right) if op in OPPOSITE:
            if progress.positions.intersection(tested(left)) and progress.positions.intersection(tested(right)):
                return True
            if right == ir.ZERO or (op == "<" and right == ONE) or (op in EQUALITY and isinstance(left, ir.CallExpr)):
                e = left
            elif left == ir.ZERO:
                e = right
    e = without_casts(e)
    return _judges(e, progress) if isinstance(e, ir.CallExpr) else e in progress.amounts


def _judges(call: ir.CallExpr, progress: Progress) -> bool:
    """Return whether a call gets the amount, or a position and is named like a check."""
    if isinstance(call.callee, ir.NameExpr) and call.callee.name.startswith(SEARCHES):
        return False
    if any(_contains(arg, amount) for arg in call.args for amount in progress.amounts):
        return True
    named = isinstance(call.callee, ir.NameExpr) and judges(call.callee.name)
    return named and not progress.positions.isdisjoint(variables_in(call.args))


def _contains(code: ir.Expression, e: ir.Expression) -> bool:
    return any(node == e for node in walk((code,))) or any(leaf == e for leaf in leaves((code,)))


def _values(turn: tuple[Any, ...]) -> Iterator[tuple[str, ir.Expression]]:
    """Yield the variables that a loop assigns or declares, with their values."""
    for node in walk(turn):
        if isinstance(node, ir.AssignExpr) and not node.op:
            yield _name(node.target), node.value
        elif isinstance(node, ir.DeclStmt) and node.init is not None:
            yield node.name, node.init


def _name(e: ir.Expression) -> str:
    return e.name if isinstance(e, ir.NameExpr) else ""
