"""Execute loops: two iterations with widening, or one iteration that represents all of a counting loop.

A loop whose number of iterations nothing bounds ends with its data (own string copies), or after a number of iterations
that comes from outside or is an unchecked parameter.  A variable that moves with it, and that no condition in the loop
compares, leaves an array of a fixed size sooner or later.
"""

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.events import on_loop
from jarvis_workers.dataflow.execution.exits import BREAK, CONTINUE, Ends, few
from jarvis_workers.dataflow.execution.interpreter import end_scope, follows, run
from jarvis_workers.dataflow.expressions.assignments import declare
from jarvis_workers.dataflow.expressions.conditions import Split, branch
from jarvis_workers.dataflow.expressions.evaluate import evaluate
from jarvis_workers.dataflow.expressions.lvalues import place_of, place_quietly
from jarvis_workers.dataflow.expressions.macro_expansion import loop_behind
from jarvis_workers.dataflow.ir.expr import Expression, Statement, UnknownExpr
from jarvis_workers.dataflow.ir.stmt import DeclStmt, LoopStmt, RangeForStmt
from jarvis_workers.dataflow.loops.expansion import expansions
from jarvis_workers.dataflow.loops.loop_moves import Counter, LoopFacts, Moves, judges_in, loop_of, tested
from jarvis_workers.dataflow.loops.widening import (
    assume_all_set,
    assume_assigned,
    assume_initialized,
    assume_not_null_behind,
    assume_set,
    counts,
    loosen,
    lose_made,
    widen,
    written_objects,
)
from jarvis_workers.dataflow.memory.extents import extent_of
from jarvis_workers.dataflow.state.context import facts_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import decided
from jarvis_workers.dataflow.state.sizes import TYPE_ENDS
from jarvis_workers.dataflow.state.values import ANY, UNKNOWN, LinearExtent, OpenMove, PathEvent, Place, Range, Value

# Nobody says that the string or number of a caller is too large, only that it is not limited here.
CALLER_DOUBT = 0.35
TURNS = 2
# Counting loops with at most this many iterations are executed iteration by iteration.
FEW_TURNS = 2
# From this step of a function on, loops are executed for one iteration.
ONE_TURN_FROM = 50


@follows(RangeForStmt)
def _each(path: PathState, statement: RangeForStmt) -> Ends:
    """Execute `for (name : container)`: one iteration on one path, none on another."""
    name = statement.name
    value = evaluate(path, statement.container)
    ends = Ends([path])
    inner = path.copy()
    declare(inner, name, statement.type)
    current = inner.cells.get((value.target, "[]"), ANY) if value.target else ANY
    inner.cells[inner.frame.key(name), ""] = current
    done = run(statement.body, [inner])
    ends.out += done.out + done.left.get(BREAK, []) + done.left.get(CONTINUE, [])
    ends.take(done, BREAK, CONTINUE)
    return ends


@follows(LoopStmt)
def _loop(path: PathState, statement: LoopStmt) -> Ends:
    if type(statement.condition) is UnknownExpr and statement.step is not None:
        machine, headless = path.machine, statement
        statement = machine.once(headless, lambda: loop_behind(machine, headless))
    init = statement.init
    if init and type(init[0]) is DeclStmt:
        # The variables of the head may shadow others.
        with path.frame.block():
            return _from(run(init, [path]).out, statement)
    return _from(run(init, [path]).out if init else [path], statement)


def _from(began: list[PathState], statement: LoopStmt) -> Ends:
    ends = Ends([])
    if not began:
        return ends
    machine = began[0].machine
    loop = machine.loops.get(id(statement))
    if loop is None:
        loop = machine.loops[id(statement)] = loop_of(statement)
    before, outer = machine.mode, machine.execution.open_moves
    for one in began:
        moves = open_moves(one, loop.moves, loop.counter)
        if any(move.event.doubt for move in moves.values()) and judges_in(statement.body):
            moves = {}
        on_loop.happens(one, statement, loop.moves)
        moves |= expansions(one, statement, loop.moves)
        machine.execution.open_moves = {**outer, **moves} if moves else outer
        reaches = {**before.reaches, **last_values(one, loop)}
        machine.mode = before._replace(reaches=reaches, loops=(*before.loops, statement))
        if isinstance(statement.condition, UnknownExpr):
            # A macro forms the head of this loop and may set its variables.
            assume_all_set(one)
            assume_assigned(one, statement.step, is_head=True)
        if loop.counter is None or not _counted(one, loop, loop.counter, statement.body, ends):
            _turns(one, loop, statement, ends)
    machine.mode, machine.execution.open_moves = before, outer
    return ends


def _turns(path: PathState, loop: LoopFacts, statement: LoopStmt, ends: Ends) -> None:
    """Execute two iterations of a loop; the ranges that change in the first are widened for the second."""
    condition, line = statement.condition, statement.line
    entering, out = _turn([path], condition, line) if statement.form != "do" else ([path], [])
    if entering:
        for one in out:
            assume_set(one, loop.changed + loop.given, loop.moves.carried)
    ends.out += out
    turns = TURNS if path.machine.execution.steps < ONE_TURN_FROM else 1
    for turn in range(turns):
        if not entering:
            return
        state = entering[0].copy()
        done = run(statement.body, entering)
        end_scope(done, statement.body, path.frame)
        ends.out += done.left.get(BREAK, [])
        ends.take(done, BREAK, CONTINUE)
        again = done.out + done.left.get(CONTINUE, [])
        for one in again:
            _step(one, statement)
        entering, out = _turn(few(again), condition, line)
        for one in out if entering else ():
            assume_initialized(one, loop.changed)
        ends.out += out
        if turn == 0:
            for one in entering:
                widen(one, loop.changed, state)
    if condition is not None:
        ends.out = few(ends.out)


def _step(path: PathState, statement: LoopStmt) -> None:
    if type(statement.condition) is UnknownExpr:
        assume_assigned(path, statement.step, is_head=True)
    else:
        evaluate(path, statement.step)


def _turn(paths: list[PathState], condition: Expression | None, line: int) -> Split:
    """Return the paths that enter the loop body (again), and those that leave the loop."""
    if condition is None:
        return paths, []
    entering: list[PathState] = []
    leaving: list[PathState] = []
    for path in paths:
        yes, no = branch(path, condition, line)
        entering += yes
        leaving += no
    return few(entering), few(leaving)


def _counted(path: PathState, loop: LoopFacts, counter: Counter, body: tuple[Statement, ...], ends: Ends) -> bool:
    """Execute one iteration that represents all, with the counter in the range from its first to its last value."""
    place = place_of(path, counter.variable)
    bounds = counts(path, counter)
    if place is None or bounds is None:
        return False
    first, last, after = bounds
    bounded = first is not None and last is not None
    turns = last - first + 1 if first is not None and last is not None else None
    if turns is not None and turns <= 0:
        ends.out.append(path)
        return True
    if turns is not None and turns <= FEW_TURNS:
        return False
    runs = decided(counter.compare, path.cells.get(place, ANY).range, evaluate(path, counter.end).range) is True
    done = _representative(path, loop, counter, place, (first, last), body)
    for one in done.left.get(BREAK, []):
        low = one.cells.get(place, ANY).range[0]
        if first is not None and low is not None and low > first:
            assume_set(one, loop.beside + loop.given, loop.moves.carried)
        ends.out.append(one)
    ends.take(done, BREAK, CONTINUE)
    finished = done.out + done.left.get(CONTINUE, [])
    for one in few(finished):
        assume_initialized(one, loop.beside, since=path)
        if turns is None or turns > 1:
            lose_made(one, path, body)
        one.cells[place] = _anywhere(after)
        ends.out.append(one)
    if not finished or not (bounded or runs):
        path.cells[place] = path.cells.get(place, ANY)
        assume_set(path, loop.beside + loop.given, loop.moves.carried)
        assume_not_null_behind(path, finished)
        ends.out.append(path)
    return True


def _representative(
    path: PathState, loop: LoopFacts, counter: Counter, place: Place, reach: Range, body: tuple[Statement, ...]
) -> Ends:
    """Execute the body of a loop once on a copy of the path, with the counter in a range."""
    inner = path.copy()
    loosen(inner, loop.beside, loop.moves.carried)
    end = evaluate(path, counter.end)
    open_ended = counter.step > 0 and end.taint is not None and not end.checked
    inner.cells[place] = Value(reach, taint=end.taint if open_ended else None, checked=not open_ended)
    machine, before = path.machine, path.machine.mode
    filling = before.filling | written_objects(path, loop.filled)
    machine.mode = before._replace(counting=True, filling=filling)
    done = run(body, [inner])
    end_scope(done, body, path.frame)
    machine.mode = before
    return done


def _anywhere(reach: Range) -> Value:
    return Value(reach, checked=True)


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
