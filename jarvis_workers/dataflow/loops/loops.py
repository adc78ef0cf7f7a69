"""Execute loops: two iterations with widening, or one iteration that represents all of a counting loop."""

from jarvis_workers.dataflow.execution.exits import BREAK, CONTINUE, Ends, few
from jarvis_workers.dataflow.execution.interpreter import follows, run
from jarvis_workers.dataflow.expressions.assignments import declare
from jarvis_workers.dataflow.expressions.conditions import Split, branch
from jarvis_workers.dataflow.expressions.evaluate import evaluate
from jarvis_workers.dataflow.expressions.lvalues import place_of
from jarvis_workers.dataflow.expressions.macro_expansion import loop_behind
from jarvis_workers.dataflow.ir.expr import Expression, IndexExpr, Statement, UnknownExpr
from jarvis_workers.dataflow.ir.stmt import DeclStmt, LoopStmt, RangeForStmt
from jarvis_workers.dataflow.loops.induction import Counter, Lookahead, LoopFacts, judges_in, loop_of
from jarvis_workers.dataflow.loops.open_loops import last_values, open_moves
from jarvis_workers.dataflow.loops.widening import (
    assume_all_set,
    assume_assigned,
    assume_initialized,
    assume_not_null_behind,
    assume_set,
    counts,
    loosen,
    widen,
    written_objects,
)
from jarvis_workers.dataflow.memory.bounds import room
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.reports import report
from jarvis_workers.dataflow.state.sizes import BYTES, is_in_units
from jarvis_workers.dataflow.state.types import type_of
from jarvis_workers.dataflow.state.values import ANY, Place, Range, Value

TURNS = 2
# Text may be terminated, and bytes come in pairs.
AHEAD = 0.48
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
    if loop.only_steps:
        machine.mode = before._replace(only_steps={**before.only_steps, **loop.only_steps})
    for one in began:
        moves = open_moves(one, loop.moves, loop.counter)
        if any(move.event.doubt for move in moves.values()) and judges_in(statement.body):
            moves = {}
        if loop.ahead is not None and not one.frame.depth:
            _read_ahead(one, loop.ahead)
        machine.execution.open_moves = {**outer, **moves} if moves else outer
        machine.mode = machine.mode._replace(reaches={**before.reaches, **last_values(one, loop)})
        if isinstance(statement.condition, UnknownExpr):
            # A macro forms the head of this loop and may set its variables.
            assume_all_set(one)
            assume_assigned(one, statement.step, is_head=True)
        if loop.counter is None or not _counted(one, loop, loop.counter, statement.body, ends):
            _turns(one, loop, statement, ends)
    machine.mode, machine.execution.open_moves = before, outer
    return ends


def _read_ahead(path: PathState, ahead: Lookahead) -> None:
    if ahead.end is not None:
        if _has_room(path, ahead, ahead.end):
            return
        text = f"{text_of(ahead.read)} is read before {ahead.cursor.name} is compared with the end"
        report(path, "flow_buffer_overread", ahead.line, text, sure=AHEAD)
        return
    kind = type_of(path, ahead.cursor)
    if kind is None or not kind.endswith("*") or path.machine.plain(kind[:-1]) not in BYTES:
        return
    memory = path.object_of(evaluate(path, ahead.cursor))
    if memory is not None and memory.kind in ("text", "static"):
        return
    text = f"{text_of(ahead.read)} is read, but the loop only makes sure that one byte of {ahead.cursor.name} is left"
    report(path, "flow_buffer_overread", ahead.line, text, sure=AHEAD)


def _has_room(path: PathState, ahead: Lookahead, end: Expression) -> bool:
    """Return whether the element at the end is inside memory of a known size, too."""
    machine, read = path.machine, ahead.read
    before, machine.mode = machine.mode, machine.mode.quietly()
    path = path.copy()
    last = evaluate(path, end)
    is_index = isinstance(read, IndexExpr) and read.subscript == ahead.cursor
    start = evaluate(path, read.base) if isinstance(read, IndexExpr) and is_index else last
    machine.mode = before
    memory, most = path.object_of(start), last.range[1] if is_index else 0
    left = room(start, memory) if memory is not None and is_exact(start.at) else None
    if memory is None or left is None or most is None or is_in_units(most):
        return False
    return (most + 1) * memory.element <= left


def _turns(path: PathState, loop: LoopFacts, statement: LoopStmt, ends: Ends) -> None:
    """Execute two iterations of a loop; the ranges that change in the first are widened for the second."""
    condition, line = statement.condition, statement.line
    entering, out = _turn([path], condition, line) if statement.form != "do" else ([path], [])
    if entering:
        for one in out:
            assume_set(one, loop.changed, loop.moves.carried)
    ends.out += out
    turns = TURNS if path.machine.execution.steps < ONE_TURN_FROM else 1
    for turn in range(turns):
        if not entering:
            return
        state = entering[0].copy()
        done = run(statement.body, entering)
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
    done = _representative(path, loop, counter, place, (first, last), body)
    for one in done.left.get(BREAK, []):
        low = one.cells.get(place, ANY).range[0]
        if first is not None and low is not None and low > first:
            assume_set(one, loop.beside, loop.moves.carried)
        ends.out.append(one)
    ends.take(done, BREAK, CONTINUE)
    finished = done.out + done.left.get(CONTINUE, [])
    for one in few(finished):
        assume_initialized(one, loop.beside, since=path)
        one.cells[place] = _anywhere(after)
        ends.out.append(one)
    if not bounded or not finished:
        path.cells[place] = path.cells.get(place, ANY)
        assume_set(path, loop.beside, loop.moves.carried)
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
    filling = before.filling | written_objects(path, loop.beside)
    machine.mode = before._replace(counting=True, filling=filling)
    done = run(body, [inner])
    machine.mode = before
    return done


def _anywhere(reach: Range) -> Value:
    return Value(reach, checked=True)
