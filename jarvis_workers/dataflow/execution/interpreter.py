"""Path-sensitive symbolic execution of statements, and of the functions that they call.

Calls of functions with a body are followed, up to CALLS_DEEP levels deep.  A path forks at an undecided condition; only
equal paths merge, and if too many reach a point, a few are kept.  A function may take a number of steps: code
beyond that is not analyzed, which can hide a finding but never cause one, and the function is named.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.calls.callees import arguments, bind, callee, forget_frame, matters, object_of
from jarvis_workers.dataflow.calls.tainting import EFFECTS_DEEP, reaches_effects
from jarvis_workers.dataflow.calls.termination import ends_by_argument, ends_program
from jarvis_workers.dataflow.execution.exits import BREAK, CONTINUE, RETURN, SINGLE_FROM, SPENT_FROM, THROW, Ends, few
from jarvis_workers.dataflow.expressions.evaluate import StepLimitReached, evaluate, evaluate_all
from jarvis_workers.dataflow.expressions.macro_expansion import unfolded
from jarvis_workers.dataflow.expressions.side_effects import forget_outputs
from jarvis_workers.dataflow.loops.widening import assume_all_set, assume_moved
from jarvis_workers.dataflow.memory.extents import carry_extents
from jarvis_workers.dataflow.memory.pointers import escape, escape_inside
from jarvis_workers.dataflow.queries.ast_queries import bodies, calls_in, holds_label, size_of_function
from jarvis_workers.dataflow.state.context import facts_of
from jarvis_workers.dataflow.state.definitions import Callee
from jarvis_workers.dataflow.state.path import Frame, PathState
from jarvis_workers.dataflow.state.values import ANY, IS_NULL, NOT_NULL, OUT_OF_SCOPE, Object, PathEvent, Value

CALLS_DEEP = EFFECTS_DEEP + 1
# With a project's own rule, functions with at most this many statements are followed to its sources and sinks.
MEDIUM = 100
# What one callee may cost in the analysis of a function, in evaluations; its further calls are not followed.  In four
# projects with 1,900 functions, no finding needed more.
CALLEE_EVALUATIONS = 150
RESUMED = (ir.BlockStmt, ir.IfStmt, ir.LoopStmt, ir.SwitchStmt)
UNCHECKED = (ir.ExprStmt, ir.ReturnStmt)
# Returns the paths that continue after the statement, or all its exits if some paths leave it early.
Follow = Callable[[PathState, Any], Ends | list[PathState]]
STATEMENTS: dict[type, Follow] = {}


def follows(*kinds: type) -> Callable[[Follow], Follow]:
    """Return a decorator that registers the executor of kinds of statements."""

    def keep(act: Follow) -> Follow:
        STATEMENTS.update(dict.fromkeys(kinds, act))
        return act

    return keep


def run(statements: Iterable[ir.Statement], paths: list[PathState]) -> Ends:
    """Execute statements on some paths."""
    ends = Ends(paths)
    for statement in statements:
        act = STATEMENTS.get(type(statement))
        if act is not None and ends.out:
            _step(act, statement, ends)
        elif type(statement) is ir.LabelStmt:
            ends.out = few(ends.out + ends.left.pop(statement.label, []))
        elif ends.out:
            _jump(statement, ends)
        elif ends.left and isinstance(statement, RESUMED):
            _resume(statement, ends)
    return ends


def end_scope(ends: Ends, body: Sequence[ir.Statement], frame: Frame) -> None:
    """End the variables of a block: what still points to one points to nothing."""
    names = facts_of(frame.function).addressed.get(id(body), ()) if body else ()
    for name in names:
        key = frame.key(name)
        for path in (*ends.out, *ends.left.get(BREAK, ()), *ends.left.get(CONTINUE, ())):
            if key not in path.machine.statics and any([one.target == key for one in path.cells.values()]):
                event = path.note(path.machine.execution.line, OUT_OF_SCOPE, ir.NameExpr("v", name))
                path.objects[key] = path.objects.get(key, Object("stack"))._replace(freed=event)


def _jump(statement: ir.Statement, ends: Ends) -> None:
    match statement:
        case ir.BreakStmt():
            way = BREAK
        case ir.ContinueStmt():
            way = CONTINUE
        case ir.GotoStmt(label=label):
            way = label
        case _:
            for path in ends.out:
                assume_all_set(path)
                assume_moved(path)
            return
    ends.add(way, ends.out)
    ends.out = []


def _resume(statement: ir.Statement, ends: Ends) -> None:
    """Continue at a label inside a statement that is not reached otherwise, for the paths that jump there."""
    waiting = ends.labels()
    if not waiting or not holds_label(statement, waiting):
        return
    for label in waiting:
        del ends.left[label]
    first, *_ = bodies(statement)
    done = _run_from(first, waiting)
    ends.out += done.out
    ends.take(done)


def _run_from(statements: Sequence[ir.Statement], waiting: dict[str, list[PathState]]) -> Ends:
    ends = Ends([])
    ends.left = waiting
    for place, statement in enumerate(statements):
        if isinstance(statement, ir.LabelStmt) and statement.label in waiting:
            rest = run(statements[place + 1 :], waiting.pop(statement.label))
            rest.take(ends)
            return rest
    return ends


def _step(act: Follow, statement: Any, ends: Ends) -> None:
    """Execute one statement on all paths."""
    after: list[PathState] = []
    line, machine = statement.line, ends.out[0].machine
    calls = machine.calls.get(id(statement))
    if calls is None:
        calls = machine.calls[id(statement)] = _calls_to_follow(ends.out[0], statement)
    for before in ends.out:
        machine.execution.steps += not machine.mode.unfolding
        if machine.execution.steps > machine.execution.steps_max:
            raise StepLimitReached(f"it takes more than {machine.execution.steps_max:,} steps")
        machine.execution.line = line
        for path in _prepared(calls, before, statement) if calls else (before,):
            machine.execution.line = line
            done = act(path, statement)
            if isinstance(done, list):
                after += done
            else:
                after += done.out
                if done.left:
                    ends.take(done)
    ends.out = after if len(after) == 1 and not after[0].ended else few(after)


def _calls_to_follow(path: PathState, statement: ir.Statement) -> list[ir.Expression]:
    """Return the calls in a statement, except those of functions that have no body here."""
    if type(statement) is ir.ExprStmt and unfolded(path.machine, statement) is not None:
        return []
    return [call for call in calls_in(statement) if not _is_of_unknown(path, call)]


def _is_of_unknown(path: PathState, call: ir.Expression) -> bool:
    if type(call) is not ir.CallExpr or type(call.callee) is not ir.NameExpr:
        return False
    return call.callee.name not in path.frame.types and callee(path, call) is None


def _prepared(calls: list[ir.Expression], path: PathState, statement: ir.Statement) -> list[PathState]:
    """Follow the calls in a statement before executing it; `results` of each path holds the returned values."""
    machine = path.machine
    paths = [path]
    # The call whose result the statement does not look at: it returns the result, or does not use it.
    unchecked = statement.value if isinstance(statement, UNCHECKED) else None
    is_unused = type(statement) is ir.ExprStmt
    for call in calls:
        if (
            type(call) is not ir.CallExpr
            and isinstance(call, ir.NEWS)
            and machine.function(f"{call.type}::{call.type}")
        ):
            paths = [after for one in paths for after in _made(call, one)]
            continue
        if type(call) is not ir.CallExpr:
            continue
        if type(call.callee) is ir.NameExpr and ends_by_argument(call.callee.name, call.args):
            continue
        target = callee(path, call)
        if not paths:
            break
        if target is not None and _may_enter(target, paths[0]) and matters(paths[0], call, target):
            if ends_program(machine, target):
                for one in () if machine.mode.quiet else paths:
                    arguments(one, call, target[0])
                return []
            entered = [_enter(call, target, one, is_checked=call is not unchecked) for one in paths]
            for finished in entered if call is unchecked and is_unused else ():
                _hand_over(finished)
            paths = few([after for finished in entered for after in finished])
    return paths


def _made(e: ir.NewExpr | ir.PlacementNewExpr, path: PathState) -> list[PathState]:
    """Evaluate a new-expression and follow its constructor."""
    value = evaluate(path, e)
    path.results[id(e)] = value
    return construct(f"{e.type}::{e.type}", e.args, value, e.line, [path])


def _enter(call: ir.CallExpr, target: Callee, path: PathState, *, is_checked: bool) -> list[PathState]:
    values = arguments(path, call, target[0])
    this = object_of(path, call)
    finished = _inside(target, call, values, this, path) if not path.ended else []
    for one in finished:
        low, high = one.returned.range
        is_nothing = low is not None and low == high and low <= 0 and one.returned.why is None
        if is_nothing or one.returned.null == IS_NULL:
            note = f"{{}} returns {low or 'NULL'}"
            one.returned = one.returned._replace(why=PathEvent(None, path.frame.file, call.line, note, call))
        if is_checked:
            forget_outputs(one, values)
        one.results[id(call)] = one.returned
        one.returned = ANY
    return finished


def _hand_over(finished: list[PathState]) -> None:
    """Treat what a callee keeps on one of its paths as kept on all, since its caller cannot tell them apart."""
    if len(finished) == 1:
        return
    # An object that could not be allocated is lost, too, but nothing points to it.
    escaped = {
        current.target
        for one in finished
        for current in one.cells.values()
        if (target := one.object_of(current)) is not None and target.lost
    }
    for one in finished:
        for key in escaped & one.objects.keys():
            one.objects[key or ""] = one.objects[key or ""]._replace(lost=True)


def _may_enter(target: Callee, path: PathState) -> bool:
    (function, _), frame = target, path.frame
    machine = path.machine
    if machine.evaluated > SPENT_FROM or (machine.execution.steps > SINGLE_FROM and not frame.depth):
        return False
    if machine.spent.get(id(function), 0) > CALLEE_EVALUATIONS:
        return False
    if frame.depth >= CALLS_DEEP or function.name in frame.callers:
        return False
    return facts_of(function).is_small or (machine.rule is not None and _is_followed_for_rule(target, path))


def _is_followed_for_rule(target: Callee, path: PathState) -> bool:
    """Return whether to follow a longer function for the sake of a project's own rule."""
    return reaches_effects(path.machine, *target) and size_of_function(target[0], MEDIUM) <= MEDIUM


def _inside(target: Callee, call: ir.CallExpr, values: list[Value], this: Value, path: PathState) -> list[PathState]:
    """Follow a call; the value it returns is in `returned` of each path."""
    function, file = target
    machine, frame = path.machine, path.frame
    machine.frames += 1
    inner = Frame(function, machine.frames, frame)
    before, line = path.trail, call.line
    path.note(line, f"calls {function.name}")
    inner.file, inner.this = file, this
    inner.call_line = line if frame.call_line is None else frame.call_line
    bind(path, call, values, inner)
    path.returned = ANY
    entered, earlier = path.trail, {*path.objects} if function.partial else set[str]()
    evaluated = machine.evaluated
    finished = follow_body(path)
    machine.spent[id(function)] = machine.spent.get(id(function), 0) + machine.evaluated - evaluated
    path.frame = frame
    for one in finished:
        if function.partial:
            _hand_to_unread(one, earlier, (this, *values))
        forget_frame(one, inner)
        one.frame = frame
        carry_extents(one, call, inner)
        if one.trail is entered:
            one.trail = before
    return finished


def _hand_to_unread(path: PathState, earlier: Collection[str], values: Sequence[Value]) -> None:
    """Treat what a callee makes or gets as kept by it, if not all of its code was read."""
    for value in values:
        escape(path, value)
        if value.target:
            escape_inside(path, value.target)
    for key in path.objects.keys() - earlier:
        path.objects[key] = path.objects[key]._replace(lost=True)


def follow_body(path: PathState) -> list[PathState]:
    """Execute the function of a path's frame to its end, and run the destructors of its variables."""
    frame = path.frame
    function = frame.function
    ends = run(function.body, [path])
    for left in ends.labels().values():
        ends.out += left[:1]
    thrown = ends.left.get(THROW, []) if not frame.depth else []
    finished = few(ends.out + ends.left.get(RETURN, []) + thrown)
    for name, kind in reversed(frame.destroyed):
        this = Value(target=frame.key(name), null=NOT_NULL, kind=kind)
        finished = destroy(this, function.end, finished)
    return finished


def destroy(this: Value, line: int, paths: list[PathState]) -> list[PathState]:
    """Follow the destructor of an object."""
    return construct(f"{this.kind}::~{this.kind}", (), this, line, paths)


def construct(
    name: str, args: tuple[ir.Expression, ...], this: Value, line: int, paths: list[PathState]
) -> list[PathState]:
    """Follow a constructor or destructor that has a body."""
    if not paths:
        return paths
    constructor = paths[0].machine.function(name)
    if constructor is None or not _may_enter(constructor, paths[0]):
        for path in paths if args else ():
            for value in evaluate_all(path, args):
                escape(path, value)
        return paths
    after: list[PathState] = []
    for path in paths:
        call = ir.CallExpr("c", ir.NameExpr("v", name), args, line)
        done = _inside(constructor, call, arguments(path, call, constructor[0]), this, path)
        for one in done:
            one.returned = ANY
        after += done
    return few(after)
