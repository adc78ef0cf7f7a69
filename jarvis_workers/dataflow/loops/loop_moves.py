"""What the code of a loop says about its length: the variables that it moves, and those that its conditions test."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.queries.ast_queries import OPPOSITE, variables_in, walk, without_casts

CONTENT = frozenset((ir.DerefExpr, ir.IndexExpr))
INPUTS = frozenset(("getc", "fgetc", "getchar", "getwc", "fgetwc", "getwchar"))
# Functions that return a pointer into the object of their argument.
SEARCHES = ("str", "mem", "wcs", "wmem")
FURTHEST = 8


class Moves(NamedTuple):
    """The variables that a loop moves in one direction, those that its conditions test, and what its length depends on.

    `steps` are the distances of all variables that it moves, 0 for an unknown one; `carried` are all variables whose
    new value depends on the old one.  `inside` are those that conditions in its body test.  `content` are the memory
    accesses and input calls in the condition of the loop; `countdown` is the variable that the condition counts down.
    """

    steps: dict[str, set[int]]
    carried: frozenset[str]
    moved: dict[str, int]
    tested: frozenset[str]
    inside: frozenset[str]
    content: tuple[ir.Expression, ...]
    countdown: ir.Expression | None


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
    inside = frozenset(name for condition in conditions for name in tested(condition))
    return Moves(
        steps,
        frozenset(carried.union(steps)),
        {name: direction for name, by in steps.items() if name not in assigned and (direction := _direction(by))},
        inside.union(tested(statement.condition)),
        inside,
        tuple(node for node in walk((statement.condition,)) if _is_content(node)),
        _countdown(statement.condition),
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
