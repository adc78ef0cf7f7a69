"""Loops that write more elements than they read: a bound of what they read does not bound what they write."""

from collections import Counter
from collections.abc import Set
from functools import partial
from typing import Any

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.expressions.evaluate import evaluate
from jarvis_workers.dataflow.loops.loop_moves import Moves
from jarvis_workers.dataflow.memory.extents import extent_of
from jarvis_workers.dataflow.queries.ast_queries import OWN_PARTS, bodies, variables_in, walk
from jarvis_workers.dataflow.queries.condition_queries import conjuncts
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.sizes import TYPE_ENDS
from jarvis_workers.dataflow.state.types import element_size
from jarvis_workers.dataflow.state.values import LinearExtent, OpenMove, PathEvent, Place

# How often the loop takes the branch that expands is not known.
DOUBT = 0.25


def expansions(path: PathState, statement: ir.LoopStmt, moves: Moves) -> dict[Place, OpenMove]:
    """Return the variables that a loop of a known number of turns moves by several elements in a turn, untested."""
    names = [name for name, step in moves.moved.items() if step > 0 and name not in moves.tested]
    if not names:
        return {}
    advances = path.machine.once(statement, partial(_advances, statement, moves.moved.keys()), "advances")
    names = [name for name in names if advances[name] > 1 and name in path.frame.types]
    turns = _turns(path, statement.condition, moves, advances) if names else None
    result = {}
    for name in names if turns is not None else ():
        first, by = _position(path, ir.NameExpr("v", name)), advances[name]
        if first is not None and turns is not None:
            note = f"{{}} moves by up to {by} in each iteration"
            event = PathEvent(None, path.frame.file, statement.line, note, ir.NameExpr("v", name), DOUBT)
            reach: int | LinearExtent
            if isinstance(turns, LinearExtent):
                reach = turns._replace(unit=turns.unit * by, extra=turns.extra * by + first)
            else:
                reach = first + turns * by
            line = _widest_line(statement.body, name, moves.moved.keys())
            result[path.frame.types[name].place] = OpenMove(event, 1, reach, line)
    return result


def _position(path: PathState, e: ir.Expression, *, most: bool = False) -> int | None:
    """Return a number (or its upper end), or the offset of a pointer in its object in elements; None if unknown."""
    value = evaluate(path, e)
    reach, width = (value.at, element_size(path, e)) if value.target else (value.range, 1)
    end = reach[1] if most and reach[1] not in TYPE_ENDS else reach[0] if is_exact(reach) else None
    return end // width if end is not None else None


def _turns(
    path: PathState, condition: ir.Expression | None, moves: Moves, advances: Counter[str]
) -> int | LinearExtent | None:
    """Return the number of iterations that a part of the condition, such as `i < N`, allows."""
    for part in conjuncts(condition):
        match part:
            case ir.BinaryExpr(op="<" | "<=" | "!=" as op, left=ir.NameExpr(name=name) as left, right=right) if (
                moves.moved.get(name) == advances[name] == 1
            ):
                first, last = _position(path, left), _position(path, right, most=True)
                if first is not None and last is not None:
                    return last - first + (op == "<=")
                return extent_of(path, right) if first == 0 else None
    return None


def _widest_line(body: tuple[Any, ...], name: str, moved: Set[str]) -> int:
    """Return the first line that names a variable in the branch that moves it furthest."""
    while True:
        widest = max(body, key=lambda one: _longest((one,), moved)[name])
        nested = [tuple(inner) for inner in bodies(widest) if inner]
        if not nested or isinstance(widest, ir.LoopStmt):
            break
        body = max(nested, key=lambda inner: _longest(inner, moved)[name])
    return next((int(one.line) for one in body if name in variables_in((one,))), 0)


def _advances(statement: ir.LoopStmt, moved: Set[str]) -> Counter[str]:
    """Return how far an iteration moves each variable at most, by constant steps."""
    total = _longest(statement.body, moved)
    total.update(_steps((statement.step, statement.condition)))
    return total


def _longest(body: tuple[Any, ...], moved: Set[str]) -> Counter[str]:
    """Return the longest moves in a body, but not those in iterations that a condition on a counter selects."""
    total: Counter[str] = Counter()
    for one in body:
        parts = OWN_PARTS.get(type(one))
        total.update(_steps((parts(one),)) if parts is not None else {})
        nested = () if isinstance(one, ir.LoopStmt) or _is_selected(one, moved) else bodies(one)
        branches = [_longest(tuple(inner), moved) for inner in nested]
        for name in set().union(*branches):
            total[name] += max(branch[name] for branch in branches)
    return total


def _is_selected(one: ir.Statement, moved: Set[str]) -> bool:
    """Return whether counters decide about a branch, and no data."""
    if not isinstance(one, ir.IfStmt) or not moved >= variables_in((one.condition,)):
        return False
    return not any(isinstance(node, (ir.DerefExpr, ir.IndexExpr, ir.CallExpr)) for node in walk((one.condition,)))


def _steps(code: tuple[Any, ...]) -> Counter[str]:
    total: Counter[str] = Counter()
    for node in walk(code):
        match node:
            case ir.UpdateExpr(op=op, operand=ir.NameExpr(name=name)):
                total[name] += 1 if op == "+" else -1
            case ir.AssignExpr(op="+" | "-" as op, target=ir.NameExpr(name=name), value=ir.NumberExpr(value=by)):
                total[name] += by if op == "+" else -by
    return total
