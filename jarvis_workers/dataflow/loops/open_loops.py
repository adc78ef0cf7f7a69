"""Loops whose number of iterations nothing bounds, and the variables that move with them through memory.

Such a loop ends with its data (own string copies), or after a number of iterations that comes from outside or is an
unchecked parameter.  A variable that moves with it, and that no condition in the loop compares, leaves an array of a
fixed size sooner or later.
"""

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.expressions.evaluate import evaluate
from jarvis_workers.dataflow.expressions.lvalues import place_quietly
from jarvis_workers.dataflow.loops.induction import Counter, LoopFacts
from jarvis_workers.dataflow.loops.loop_moves import Moves, tested
from jarvis_workers.dataflow.memory.extents import extent_of
from jarvis_workers.dataflow.state.context import facts_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.sizes import TYPE_ENDS
from jarvis_workers.dataflow.state.values import UNKNOWN, LinearExtent, OpenMove, PathEvent, Place

# Nobody says that the string or number of a caller is too large, only that it is not limited here.
CALLER_DOUBT = 0.35


def open_moves(path: PathState, moves: Moves, counter: Counter | None) -> dict[Place, OpenMove]:
    """Return the variables that a loop moves through memory without a bound."""
    free = {name: step for name, step in moves.moved.items() if name not in moves.tested}
    bounds = {name for name in moves.tested if name in moves.moved}
    event = None
    if counter is not None:
        name = counter.variable.name if isinstance(counter.variable, ir.NameExpr) else ""
        if bounds == {name} and name not in moves.inside and counter.step > 0:
            event = _unbounded(path, counter.end)
            free[name] = 1
    elif isinstance(moves.countdown, ir.NameExpr):
        if bounds == {moves.countdown.name}:
            event = _unbounded(path, moves.countdown)
    elif not bounds:
        event = next((one for part in moves.content if (one := _endless(path, part, moves.moved))), None)
    if event is None:
        return {}
    places = {name: place_quietly(path, ir.NameExpr("v", name)) for name in free}
    return {place: OpenMove(event, free[name]) for name, place in places.items() if place is not None and free[name]}


def last_values(path: PathState, loop: LoopFacts) -> dict[Place, LinearExtent]:
    """Return the last value of the counter of a loop, if that depends on one local variable."""
    counter = loop.counter
    if counter is None or counter.step != 1 or not isinstance(counter.variable, ir.NameExpr):
        return {}
    place, end = place_quietly(path, counter.variable), extent_of(path, counter.end)
    if place is None or end is None or counter.variable.name in loop.moves.inside:
        return {}
    return {place: end if counter.compare == "<=" else end._replace(extra=end.extra - 1)}


def _unbounded(path: PathState, e: ir.Expression) -> PathEvent | None:
    """Return why a number of iterations is not bounded; None if it is, or nothing is known about it."""
    value = evaluate(path, e)
    high = value.range[1]
    if value.taint is not None:
        return None if value.checked or (high is not None and high not in TYPE_ENDS) else value.taint
    frame = path.frame
    if high is not None or value.checked or value.target or value.kind or frame.depth:
        return None
    if not isinstance(e, ir.NameExpr) or e.name not in frame.types:
        return None
    if facts_of(frame.function).limits.get(e.name, path.machine.execution.line) < path.machine.execution.line:
        return None
    return _of_caller(path, e)


def _endless(path: PathState, e: ir.Expression, moved: dict[str, int]) -> PathEvent | None:
    """Return why a loop that ends with its data may take any number of iterations."""
    if isinstance(e, ir.CallExpr):
        return PathEvent(None, path.frame.file, path.machine.execution.line, "{} reads untrusted input", e)
    pointer = e.pointer if isinstance(e, ir.DerefExpr) else e.base if isinstance(e, ir.IndexExpr) else None
    parts = (pointer, e.subscript) if isinstance(e, ir.IndexExpr) else (pointer,)
    if not any(name in moved for part in parts for name in tested(part)):
        return None
    while isinstance(pointer, (ir.UpdateExpr, ir.CastExpr)):
        pointer = pointer.operand
    if not isinstance(pointer, ir.NameExpr):
        return None
    value = evaluate(path, pointer)
    buffer = path.object_of(value)
    if buffer is not None:
        return buffer.taint if buffer.size == UNKNOWN else None
    return _of_caller(path, pointer) if value.target is None or value.target.startswith("o:") else None


def _of_caller(path: PathState, e: ir.Expression) -> PathEvent:
    note = "{} may be of any length or number: nothing in this function limits it"
    return PathEvent(None, path.frame.file, path.machine.execution.line, note, e, CALLER_DOUBT)
