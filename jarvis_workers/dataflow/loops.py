"""Follow a path through loops: two turns, or one that stands for all where the loop counts."""

from typing import Any

from jarvis_workers.dataflow.assignments import declare
from jarvis_workers.dataflow.conditions import Split, branch
from jarvis_workers.dataflow.evaluate import evaluate
from jarvis_workers.dataflow.exits import BREAK, CONTINUE, Ends, few
from jarvis_workers.dataflow.induction import Counter, LoopFacts, loop_of
from jarvis_workers.dataflow.interpreter import follows, run
from jarvis_workers.dataflow.lvalues import place_of
from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.values import ANY, Range, Statement, Value
from jarvis_workers.dataflow.widening import assume_all_set, assume_set, counts, loosen, widen

# The head of a loop that a macro makes, which may set its variables.
NOT_UNDERSTOOD = ["x"]
TURNS = 2
# A loop of no more turns than these is followed turn by turn.
FEW_TURNS = 2
# From this step of a function on, loops are followed through one turn.
ONE_TURN_FROM = 50


@follows("each")
def _each(path: PathState, statement: Statement) -> Ends:
    """Follow `for (name : container)` through one turn, and past it."""
    _, _, name, kind, subject, body = statement
    value = evaluate(path, subject)
    ends = Ends([path])
    inner = path.copy()
    declare(inner, name, kind)
    held = inner.cells.get((value.target, "[]"), ANY) if value.target else ANY
    inner.cells[inner.frame.key(name), ""] = held
    done = run(body, [inner])
    ends.out += done.out + done.left.get(BREAK, []) + done.left.get(CONTINUE, [])
    ends.take(done, BREAK, CONTINUE)
    return ends


@follows("loop")
def _loop(path: PathState, statement: Statement) -> Ends:
    init = statement[3]
    began = run(init, [path]).out if init else [path]
    ends = Ends([])
    loops = path.machine.loops
    loop = loops.get(id(statement))
    if loop is None:
        loop = loops[id(statement)] = loop_of(statement)
    for one in began:
        if statement[4] == NOT_UNDERSTOOD:
            assume_all_set(one)
        if loop.counter is None or not _counted(one, loop, loop.counter, statement[6], ends):
            _turns(one, loop, statement, ends)
    return ends


def _turns(path: PathState, loop: LoopFacts, statement: Statement, ends: Ends) -> None:
    """Follow two turns of a loop: the first as it is, the second with what changes in it made wider."""
    _, line, kind, _, condition, step, body = statement
    entering, out = _turn([path], condition, line) if kind != "do" else ([path], [])
    if entering:
        for one in out:
            assume_set(one, loop.changed)
    ends.out += out
    turns = TURNS if path.machine.steps < ONE_TURN_FROM else 1
    for turn in range(turns):
        if not entering:
            return
        known = entering[0].copy()
        done = run(body, entering)
        ends.out += done.left.get(BREAK, [])
        ends.take(done, BREAK, CONTINUE)
        again = done.out + done.left.get(CONTINUE, [])
        for one in again:
            evaluate(one, step)
        entering, out = _turn(few(again), condition, line)
        ends.out += out
        if turn == 0:
            for one in entering:
                widen(one, loop.changed, known)
    if condition is not None:
        ends.out = few(ends.out)


def _turn(paths: list[PathState], condition: Any, line: int) -> Split:
    """Return the paths that go into a loop again, and those that leave it."""
    if not condition:
        return paths, []
    entering: list[PathState] = []
    leaving: list[PathState] = []
    for path in paths:
        yes, no = branch(path, condition, line)
        entering += yes
        leaving += no
    return few(entering), few(leaving)


def _counted(path: PathState, loop: LoopFacts, counter: Counter, body: list[Statement], ends: Ends) -> bool:
    """Follow one turn that stands for all, with the counter anywhere between its first and its last value."""
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
    inner = path.copy()
    loosen(inner, loop.beside)
    inner.cells[place] = _anywhere((first, last))
    machine = path.machine
    machine.counting.append(place)
    done = run(body, [inner])
    machine.counting.pop()
    ends.out += done.left.get(BREAK, [])
    ends.take(done, BREAK, CONTINUE)
    finished = done.out + done.left.get(CONTINUE, [])
    for one in few(finished):
        one.cells[place] = _anywhere(after)
        ends.out.append(one)
    if not bounded or not finished:
        path.cells[place] = path.cells.get(place, ANY)
        assume_set(path, loop.beside)
        ends.out.append(path)
    return True


def _anywhere(reach: Range) -> Value:
    return Value(reach, checked=True)
