"""Execute each kind of statement that is not a loop."""

from collections.abc import Sequence
from functools import partial

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.calls.unknown_calls import drop
from jarvis_workers.dataflow.execution.exits import BREAK, RETURN, THROW, Ends, few
from jarvis_workers.dataflow.execution.interpreter import construct, destroy, end_scope, follows, run
from jarvis_workers.dataflow.expressions.assignments import declare, define
from jarvis_workers.dataflow.expressions.conditions import branch
from jarvis_workers.dataflow.expressions.evaluate import evaluate
from jarvis_workers.dataflow.expressions.lvalues import place_quietly
from jarvis_workers.dataflow.expressions.macro_expansion import MACROS_DEEP, unfolded
from jarvis_workers.dataflow.expressions.narrowing import keep
from jarvis_workers.dataflow.expressions.outcomes import outcomes
from jarvis_workers.dataflow.library import LIBRARY
from jarvis_workers.dataflow.memory.ownership import returned
from jarvis_workers.dataflow.memory.pointers import escape
from jarvis_workers.dataflow.queries.ast_queries import assigned, compared_with_constant, walk
from jarvis_workers.dataflow.queries.name_heuristics import prints, returns_by_name
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.context import AnalysisContext
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.values import ANY, IS_NULL, NOT_NULL, Value, number

CASES_MAX = 64
# Expressions that are neither expanded nor run a destructor.
PLAIN = (ir.AssignExpr, ir.UpdateExpr)


@follows(ir.ExprStmt)
def _expression(path: PathState, statement: ir.ExprStmt) -> Ends | list[PathState]:
    e, paths, machine = statement.value, [path], path.machine
    if isinstance(e, PLAIN):
        return _assign(path, e, statement.line)
    if (type(e) is ir.NameExpr and returns_by_name(e.name)) or _is_returning_call(machine, e):
        return _return(path, ir.ReturnStmt("ret", statement.line, ir.UnknownExpr("x")))
    inner = unfolded(machine, statement) if machine.mode.macros_open < MACROS_DEEP else None
    if inner is not None:
        before, machine.mode = machine.mode, machine.mode.in_macro(statements=type(e) is ir.CallExpr)
        ends = run(inner, paths)
        machine.mode = before
        return ends
    if type(e) is ir.CastExpr and e.type == "void" and type(e.operand) is ir.NameExpr:
        # It only tells compilers that the variable may be unused.
        return paths
    if type(e) is ir.DeleteExpr:
        this = evaluate(path.copy(), e.operand)
        if this.kind and this.target is not None:
            paths = destroy(this, e.line, paths)
    for one in paths:
        if type(e) is ir.CallExpr:
            drop(one, e)
        else:
            evaluate(one, e)
    return paths


def _is_returning_call(machine: AnalysisContext, e: ir.Expression) -> bool:
    """Return whether a macro of unknown text leaves the function, as its name says."""
    if type(e) is not ir.CallExpr or type(e.callee) is not ir.NameExpr or not returns_by_name(e.callee.name):
        return False
    return machine.macro(e.callee.name) is None and machine.function(e.callee.name) is None


def _assign(path: PathState, e: ir.AssignExpr | ir.UpdateExpr, line: int) -> list[PathState]:
    choices = None
    if isinstance(e, ir.AssignExpr):
        choices = outcomes(path, e.value, line, to_variable=isinstance(e.target, ir.NameExpr))
    if choices is None or not isinstance(e, ir.AssignExpr):
        evaluate(path, e)
        return [path]
    for one, value in choices:
        evaluate(one, path.machine.once(e, partial(e._replace, value=value), f"stored {id(value)}"))
    return [one for one, _ in choices]


@follows(ir.DeclStmt)
def _declaration(path: PathState, statement: ir.DeclStmt) -> list[PathState]:
    kind, init = statement.type, statement.init
    constructor = f"{kind}::{kind}"
    constructs = isinstance(init, ir.ConstructExpr)
    if not statement.dims and (constructs or (init is None and path.machine.function(constructor))):
        this = _begin_object(path, statement.name, kind)
        args = init.args if isinstance(init, ir.ConstructExpr) else ()
        return construct(constructor, args, this, statement.line, [path])
    choices = outcomes(path, init, statement.line, to_variable=True) if not statement.dims else None
    if choices is None:
        define(path, statement)
        return [path]
    for one, value in choices:
        define(one, path.machine.once(statement, partial(statement._replace, init=value), f"stored {id(value)}"))
    return [one for one, _ in choices]


def _begin_object(path: PathState, name: str, kind: str) -> Value:
    """Declare a variable of a class; its destructor runs when the function ends."""
    declare(path, name, kind)
    key = path.frame.key(name)
    path.cells[key, ""] = Value(kind=kind)
    if path.machine.function(f"{kind}::~{kind}"):
        path.frame.destroyed.append((name, kind))
    return Value(target=key, null=NOT_NULL, kind=kind)


@follows(ir.BlockStmt)
def _block(path: PathState, statement: ir.BlockStmt) -> Ends:
    with path.frame.block():
        ends = run(statement.body, [path])
        end_scope(ends, statement.body, path.frame)
    return ends


@follows(ir.TryStmt)
def _try(path: PathState, statement: ir.TryStmt) -> Ends:
    ends = Ends([])
    for body in (statement.body, *statement.handlers):
        done = run(body, [path.copy()])
        ends.out += done.out
        ends.take(done, THROW)
    return ends


@follows(ir.ThrowStmt)
def _throw(path: PathState, statement: ir.ThrowStmt) -> Ends:
    ends = Ends([])
    escape(path, evaluate(path, statement.value))
    ends.add(THROW, [path])
    return ends


@follows(ir.ReturnStmt)
def _return(path: PathState, statement: ir.ReturnStmt) -> Ends:
    ends = Ends([])
    choice = statement.value
    sides: Sequence[tuple[PathState, ir.Expression | None]]
    if type(choice) is ir.ConditionalExpr:
        # The caller may tell from the result which of the two it is.
        yes, no = branch(path, choice.condition, statement.line)
        sides = [*((one, choice.then) for one in yes), *((one, choice.otherwise) for one in no)]
    else:
        sides = outcomes(path, choice, statement.line) or [(path, choice)]
    for one, value in sides:
        _give_back(one, statement._replace(value=value), ends)
    return ends


def _give_back(path: PathState, statement: ir.ReturnStmt, ends: Ends) -> None:
    if statement.value is not None:
        path.returned = evaluate(path, statement.value)
    for one in _without_deferred(path, len(path.frame.deferred)) if path.frame.deferred else (path,):
        if statement.value is not None:
            returned(one, statement)
        one.left_at = statement.line
        if not one.ended:
            ends.add(RETURN, [one])


@follows(ir.DeferStmt)
def _defer(path: PathState, statement: ir.DeferStmt) -> list[PathState]:
    """Note the statements for the end of a block, or execute those that were noted last."""
    if not statement.body:
        return _without_deferred(path, 1)
    deferred = path.frame.deferred
    if statement not in deferred:
        deferred.append(statement)
    path.cells[path.frame.key("defer"), str(deferred.index(statement))] = number(1)
    return [path]


def _without_deferred(path: PathState, most: int) -> list[PathState]:
    """Execute the last deferred statements that the path has passed, in reverse."""
    paths, key = [path], path.frame.key("defer")
    execution = path.machine.execution
    for place in range(len(path.frame.deferred) - 1, -1, -1):
        if (key, str(place)) not in path.cells or not most:
            continue
        most -= 1
        for one in paths:
            one.cells.pop((key, str(place)), None)
        leaving, execution.leaving = execution.leaving, True
        paths = run(path.frame.deferred[place].body, paths).out
        execution.leaving = leaving
        if not paths:
            break
    return paths


@follows(ir.IfStmt)
def _if(path: PathState, statement: ir.IfStmt) -> Ends:
    yes, no = branch(path, statement.condition, statement.line)
    ends = Ends([])
    for paths, body in ((yes, statement.then), (no, statement.otherwise)):
        if not paths:
            continue
        if not body:
            ends.out += paths
            continue
        done = run(body, few(paths))
        end_scope(done, body, path.frame)
        if done.out and (call := path.machine.once(body, partial(only_unknown_calls, path.machine, body))) is not None:
            _doubt_return(done.out, statement, call)
        ends.out += done.out
        ends.take(done)
    return ends


def _doubt_return(paths: list[PathState], statement: ir.IfStmt, call: ir.CallExpr) -> None:
    """Note that a call of unknown code returns where it is all that follows a pointer that turned out to be NULL.

    The code behind that uses the pointer shows that the call may end the program.
    """
    for path in paths:
        if any(_is_null(path, e) for e in compared_with_constant(statement.condition)):
            path.note(call.line or statement.line, "{} returns", call, undecided=True)


def _is_null(path: PathState, e: ir.Expression) -> bool:
    place = place_quietly(path, e)
    return place is not None and path.cells.get(place, ANY).null == IS_NULL


@follows(ir.SwitchStmt)
def _switch(path: PathState, statement: ir.SwitchStmt) -> Ends:
    """Execute a switch; control falls through from one group of cases into the next."""
    subject, groups = statement.subject, statement.groups
    value = evaluate(path, subject)
    is_constant = is_exact(value.range)
    ends = Ends([])
    running: list[PathState] = []
    matched = defaulted = False
    for place, (cases, body) in enumerate(groups):
        default = None in cases
        defaulted = defaulted or default
        entry: list[PathState] = []
        if not is_constant:
            entry = [_take_case(path.copy(), statement, case) for case in cases[:1]]
        elif _holds(path, cases, value) or (default and place == len(groups) - 1):
            entry = [] if matched else [path.copy()]
            matched = True
        done = run(body, few(running + entry))
        running = done.out
        ends.out += done.left.get(BREAK, [])
        ends.take(done, BREAK)
    ends.out += running
    if not matched and (is_constant or not (defaulted or _is_exhaustive(path, groups, value))):
        _exclude_zero(path, statement)
        ends.out.append(path)
    return ends


def _is_exhaustive(path: PathState, groups: tuple[ir.CaseGroup, ...], value: Value) -> bool:
    """Return whether the cases of a switch cover every possible value."""
    low, high = value.range
    if low is None or high is None or high - low >= CASES_MAX:
        return False
    options = {evaluate(path.copy(), case).range for group in groups for case in group.labels if case is not None}
    return all((number, number) in options for number in range(low, high + 1))


def _holds(path: PathState, cases: tuple[ir.Expression | None, ...], value: Value) -> bool:
    return any([evaluate(path.copy(), case).range == value.range for case in cases if case is not None])


def _take_case(path: PathState, statement: ir.SwitchStmt, case: ir.Expression | None) -> PathState:
    """Constrain a path to a case of a switch, and record it in the trace."""
    path.doubt += 1
    if case is not None:
        subject, value = statement.subject, evaluate(path, case)
        keep(path, "==", subject, evaluate(path, subject), value)
        path.note(statement.line, f"{{}} is {text_of(case)}", subject)
    else:
        _exclude_zero(path, statement)
    return path


def _exclude_zero(path: PathState, statement: ir.SwitchStmt) -> None:
    """Record that the subject of a switch is not 0, where no case applies and 0 is one."""
    if any(ir.ZERO in group.labels and None not in group.labels for group in statement.groups):
        keep(path, "!=", statement.subject, evaluate(path, statement.subject), number(0))


def only_unknown_calls(machine: AnalysisContext, body: Sequence[ir.Statement]) -> ir.CallExpr | None:
    """Return a call of unknown code if a body contains nothing but calls, none of which gets an address; None if not.

    What prints is expected to return.
    """
    calls = _only_calls(machine, body, MACROS_DEEP)
    return next((call for call in calls or () if _is_unknown(machine, call)), None)


def _only_calls(machine: AnalysisContext, body: Sequence[ir.Statement], deep: int) -> list[ir.CallExpr] | None:
    calls: list[ir.CallExpr] = []
    for one in body:
        inner: list[ir.CallExpr] | None = None
        if isinstance(one, ir.BlockStmt):
            inner = _only_calls(machine, one.body, deep)
        elif isinstance(one, ir.ExprStmt):
            expanded = unfolded(machine, one) if deep > 0 else None
            if expanded is not None:
                inner = _only_calls(machine, expanded, deep - 1)
            elif isinstance(one.value, ir.CallExpr) and not _changes(one.value):
                inner = [one.value]
        if inner is None:
            return None
        calls += inner
    return calls


def _changes(call: ir.CallExpr) -> bool:
    """Return whether the arguments of a call contain an assignment or an address."""
    return bool(assigned(call.args)) or any(isinstance(node, ir.AddressExpr) for node in walk(call.args))


def _is_unknown(machine: AnalysisContext, call: ir.CallExpr) -> bool:
    if not isinstance(call.callee, ir.NameExpr):
        return True
    name = call.callee.name
    return name not in LIBRARY and not prints(name) and machine.function(name) is None
