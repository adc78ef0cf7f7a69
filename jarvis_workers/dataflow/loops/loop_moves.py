"""What the code of a loop says about its length: the variables that it moves, and those that its conditions test."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.queries.ast_queries import (
    OPPOSITE,
    assigned,
    bodies,
    calls_in,
    variables_in,
    walk,
    without_casts,
)
from jarvis_workers.dataflow.queries.name_heuristics import judges

CONTENT = frozenset((ir.DerefExpr, ir.IndexExpr))
INPUTS = frozenset(("getc", "fgetc", "getchar", "getwc", "fgetwc", "getwchar"))
# Functions that return a pointer into the object of their argument.
SEARCHES = ("str", "mem", "wcs", "wmem")
FURTHEST = 8
FORTH_AND_BACK = {1, -1}


class Moves(NamedTuple):
    """The variables that a loop moves in one direction, those that its conditions test, and what its length depends on.

    `steps` are the distances of all variables that it moves, 0 for an unknown one; `carried` are all variables whose
    new value depends on the old one.  `inside` are those that conditions in its body test.  `content` are the memory
    accesses and input calls in the condition of the loop; `countdown` is the variable that the condition counts down.
    If its condition `stays`, the loop assigns nothing that it tests, or adds 1 to it and takes 1 away.
    """

    steps: dict[str, set[int]]
    carried: frozenset[str]
    moved: dict[str, int]
    tested: frozenset[str]
    inside: frozenset[str]
    content: tuple[ir.Expression, ...]
    countdown: ir.Expression | None
    stays: bool


def moves_of(statement: ir.LoopStmt) -> Moves:
    steps: dict[str, set[int]] = {}
    assigned: set[str] = set()
    carried: set[str] = set()
    conditions: list[ir.Expression | None] = []
    for node in walk((statement.body, statement.step, statement.condition)):
        if isinstance(node, ir.UpdateExpr):
            if isinstance(node.operand, ir.NameExpr):
                steps.setdefault(node.operand.name, set()).add(1 if node.op == "+" else -1)
        elif isinstance(node, ir.AssignExpr):
            if isinstance(node.target, ir.NameExpr):
                _note_assignment(node, node.target.name, steps, assigned)
                if _carries(node, node.target.name):
                    carried.add(node.target.name)
        elif isinstance(node, (ir.IfStmt, ir.LoopStmt, ir.ConditionalExpr)):
            conditions.append(node.condition)
    own = frozenset(tested(statement.condition))
    changed = assigned.union([name for name, by in steps.items() if by != FORTH_AND_BACK])
    inside = frozenset(name for condition in conditions for name in tested(condition))
    return Moves(
        steps,
        frozenset(carried.union(steps)),
        {name: direction for name, by in steps.items() if name not in assigned and (direction := _direction(by))},
        inside | own,
        inside,
        tuple(node for node in walk((statement.condition,)) if _is_content(node)),
        _countdown(statement.condition),
        bool(own) and own.isdisjoint(changed),
    )


def _note_assignment(node: ir.AssignExpr, name: str, steps: dict[str, set[int]], assigned: set[str]) -> None:
    if node.op not in ("+", "-"):
        assigned.add(name)
        return
    by = node.value.value if isinstance(node.value, ir.NumberExpr) else 0
    steps.setdefault(name, set()).add(by if node.op == "+" else -by)


def _carries(node: ir.AssignExpr, name: str) -> bool:
    """Return whether the new value of a variable depends on the old one; a call may return another object."""
    if node.op or name not in variables_in((node.value,)):
        return bool(node.op)
    value = without_casts(node.value)
    if not isinstance(value, ir.CallExpr):
        return True
    return isinstance(value.callee, ir.NameExpr) and value.callee.name.startswith(SEARCHES)


def _direction(by: set[int]) -> int:
    """Return 1 or -1 if all steps of a variable are short and go in the same direction, 0 if not."""
    if all(0 < step <= FURTHEST for step in by):
        return 1
    return -1 if all(-FURTHEST <= step < 0 for step in by) else 0


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


def judges_in(body: tuple[ir.Statement, ...]) -> bool:
    """Return whether the body calls a macro or function that may be a check."""
    return any(
        isinstance(call, ir.CallExpr)
        and isinstance(call.callee, ir.NameExpr)
        and ((isinstance(statement, ir.ExprStmt) and call.callee.name.isupper()) or judges(call.callee.name))
        for statement in all_statements(body)
        for call in calls_in(statement)
    )


def all_statements(body: tuple[ir.Statement, ...]) -> Iterator[ir.Statement]:
    for statement in body:
        yield statement
        for inner in bodies(statement):
            yield from all_statements(tuple(inner))


# Recognize counting loops: `i < n` with `i++`, in the loop head or once in the body.

LONGEST_STRIDE = 8
UP = frozenset(("<", "<=", "!="))
DOWN = frozenset((">", ">=", "!="))


class LoopFacts(NamedTuple):
    """Cached properties of a loop: its counter, all places that it assigns to, and these places without the counter.

    `given` are the variables whose address calls in it get, `filled` the places that it sets without reading them.
    """

    counter: "Counter | None"
    changed: list[ir.Expression]
    beside: list[ir.Expression]
    moves: Moves
    given: list[ir.Expression]
    filled: list[ir.Expression]


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
    moves, last = moves_of(statement), _set_at_end(statement.body)
    in_turn = [one for one in assigned(turn) if one not in last]
    beside = [one for one in in_turn if counter is None or one != counter.variable]
    changed = list(dict.fromkeys(in_turn + assigned((statement.condition,))))
    given = [
        part.operand
        for node in walk(turn)
        if isinstance(node, ir.CallExpr)
        for part in node.args
        if isinstance(part, ir.AddressExpr)
    ]
    filled = [node.target for node in walk(turn) if isinstance(node, ir.AssignExpr) and not node.op]
    return LoopFacts(counter, changed, beside, moves, given, filled)


def _set_at_end(body: tuple[ir.Statement, ...]) -> frozenset[ir.Expression]:
    """Return the variables that a loop assigns to only where it is left: a flag that is set in front of a break."""
    at_end = {id(node) for part in _leaving(body) for node in walk(part)}
    if not at_end:
        return frozenset()
    nodes = [(node, _target(node)) for node in walk(body)]
    set_inside = {target for node, target in nodes if target is not None and id(node) not in at_end}
    return frozenset(target for _, target in nodes if isinstance(target, ir.NameExpr)) - set_inside


def _target(node: tuple[Any, ...]) -> ir.Expression | None:
    if isinstance(node, ir.AssignExpr):
        return node.target
    return node.operand if isinstance(node, ir.UpdateExpr) else None


def _leaving(body: Sequence[ir.Statement]) -> Iterator[tuple[ir.Statement, ...]]:
    """Yield the branches of a loop that end with a jump out of it."""
    for one in body:
        for inner in bodies(one) if isinstance(one, (ir.IfStmt, ir.BlockStmt)) else ():
            if inner and isinstance(inner[-1], (ir.BreakStmt, ir.ReturnStmt, ir.GotoStmt)):
                yield tuple(inner)
            else:
                yield from _leaving(inner)


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
