"""flow_endless_loop: a loop is entered and never left, as nothing changes what its condition tests.

The condition compares local variables and numbers. The loop assigns none of them, or moves one forth and back; their
addresses are not taken, and no statement and no call of a function of unknown behaviour leaves the loop.
"""

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.events import on_loop
from jarvis_workers.dataflow.expressions.conditions import branch
from jarvis_workers.dataflow.library import LIBRARY
from jarvis_workers.dataflow.loops.loop_moves import Moves
from jarvis_workers.dataflow.queries.ast_queries import assigned, leaves, variables_in, walk
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.rules.endless_loop import RULE
from jarvis_workers.dataflow.state.path import PathState

ENTERED = 0.9
EXITS = (ir.BreakStmt, ir.ReturnStmt, ir.GotoStmt, ir.ThrowStmt)
COMPARES = (ir.BinaryExpr, ir.AndExpr, ir.OrExpr, ir.UnaryExpr, ir.CastExpr)


@on_loop
def _entered(path: PathState, statement: ir.LoopStmt, moves: Moves) -> None:
    """Report a loop whose condition is certainly true when a path gets there."""
    machine = path.machine
    if (
        not moves.stays
        or machine.mode.quiet
        or path.frame.depth
        or not machine.once(statement, lambda: _never_changes(path, statement))
    ):
        return
    before = machine.mode
    machine.mode = before._replace(quiet=True)
    entering, leaving = branch(path.copy(), statement.condition, None)
    machine.mode = before
    if entering and not leaving:
        text = f"nothing in the loop changes {text_of(statement.condition)}, which is true here"
        RULE.report(path, statement.line, text, sure=ENTERED)


def _never_changes(path: PathState, statement: ir.LoopStmt) -> bool:
    """Return whether nothing in a loop can change its condition or leave it."""
    condition, turn = statement.condition, (statement.body, statement.step)
    if condition is None or any(not isinstance(node, COMPARES) for node in walk((condition,))):
        return False
    names = {name for name in variables_in((condition,)) if not isinstance(path.machine.macro(name), ir.NumberExpr)}
    if not names or not all(_is_plain(path, name) for name in names):
        return False
    if any(isinstance(leaf, ir.UnknownExpr) for leaf in leaves(turn)):
        return False
    if any(isinstance(node, EXITS) or (isinstance(node, ir.CallExpr) and not _returns(node)) for node in walk(turn)):
        return False
    addresses = [node.operand for node in walk(path.frame.function.body) if isinstance(node, ir.AddressExpr)]
    if any(isinstance(one, ir.NameExpr) and one.name in names for one in addresses):
        return False
    return all(_stays(statement, name) for name in names)


def _is_plain(path: PathState, name: str) -> bool:
    """Return whether a name is a local variable with a number that only the function changes."""
    local = path.frame.types.get(name)
    if local is None or name in path.frame.references or "*" in local.kind:
        return False
    return path.frame.key(name) not in path.machine.statics


def _returns(call: ir.CallExpr) -> bool:
    """Return whether a called function is known to come back, and to change no local variable that it does not get."""
    if not isinstance(call.callee, ir.NameExpr):
        return False
    return call.callee.name in LIBRARY and not call.callee.name.startswith("exec")


def _stays(statement: ir.LoopStmt, name: str) -> bool:
    """Return whether a loop does not assign a variable, or adds 1 to it and takes it away in each iteration."""
    turn = (statement.body, statement.step)
    if not any(target == ir.NameExpr("v", name) for target in assigned(turn)):
        return True
    steps = [one.value for one in statement.body if isinstance(one, ir.ExprStmt)]
    own = [one for one in (*steps, statement.step) if isinstance(one, ir.UpdateExpr) and _updates(one, name)]
    inside = [node for node in walk(turn) if isinstance(node, (ir.UpdateExpr, ir.AssignExpr)) and _updates(node, name)]
    return len(own) == len(inside) and sum(1 if one.op == "+" else -1 for one in own) == 0


def _updates(node: ir.UpdateExpr | ir.AssignExpr, name: str) -> bool:
    place = node.operand if isinstance(node, ir.UpdateExpr) else node.target
    return isinstance(place, ir.NameExpr) and place.name == name
