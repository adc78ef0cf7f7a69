"""Follow a path through each kind of statement that is no loop."""

from typing import Any

from jarvis_workers.dataflow.assignments import declare, define
from jarvis_workers.dataflow.conditions import branch
from jarvis_workers.dataflow.evaluate import evaluate
from jarvis_workers.dataflow.exits import BREAK, RETURN, Ends, few
from jarvis_workers.dataflow.interpreter import construct, destroy, follows, run
from jarvis_workers.dataflow.narrowing import keep
from jarvis_workers.dataflow.ownership import returned
from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.pretty import said
from jarvis_workers.dataflow.ranges import is_exact
from jarvis_workers.dataflow.values import NOT_NULL, Expression, Statement, Value

CASES_MAX = 64


@follows("e")
def _expression(path: PathState, statement: Statement) -> list[PathState]:
    e, paths = statement[2], [path]
    if e[0] == "del":
        this = evaluate(path.copy(), e[2])
        if this.kind and this.target is not None:
            paths = destroy(this, e[3], paths)
    for one in paths:
        evaluate(one, e)
    return paths


@follows("d")
def _declaration(path: PathState, statement: Statement) -> list[PathState]:
    _, line, name, kind, dims, init, _ = statement
    constructor = f"{kind}::{kind}"
    if not dims and ((init and init[0] == "ctor") or (not init and path.machine.function(constructor))):
        this = _begin_object(path, name, kind)
        return construct(constructor, init[2] if init else [], this, line, [path])
    define(path, statement)
    return [path]


def _begin_object(path: PathState, name: str, kind: str) -> Value:
    """Declare a variable of a class; its destructor runs when the function ends."""
    declare(path, name, kind)
    key = path.frame.key(name)
    path.cells[key, ""] = Value(kind=kind)
    if path.machine.function(f"{kind}::~{kind}"):
        path.frame.destroyed.append((name, kind))
    return Value(target=key, null=NOT_NULL, kind=kind)


@follows("blk")
def _block(path: PathState, statement: Statement) -> Ends:
    """Follow a scope; where it ends, names mean again what they meant before."""
    frame = path.frame
    types, hidden = frame.types.copy(), frame.hidden.copy()
    frame.scope += 1
    try:
        return run(statement[2], [path])
    finally:
        frame.scope -= 1
        for name in frame.hidden.keys() - hidden.keys():
            frame.types[name] = types.get(name, frame.types[name])
        frame.hidden = hidden


@follows("try")
def _try(path: PathState, statement: Statement) -> Ends:
    ends = Ends([])
    for body in (statement[2], *statement[3]):
        done = run(body, [path.copy()])
        ends.out += done.out
        ends.take(done)
    return ends


@follows("throw")
def _throw(path: PathState, statement: Statement) -> list[PathState]:
    return []


@follows("ret")
def _return(path: PathState, statement: Statement) -> Ends:
    ends = Ends([])
    if statement[2] is not None:
        path.returned = evaluate(path, statement[2])
        returned(path, statement)
    if not path.ended:
        ends.add(RETURN, [path])
    return ends


@follows("if")
def _if(path: PathState, statement: Statement) -> Ends:
    _, line, condition, then, otherwise = statement
    yes, no = branch(path, condition, line)
    ends = Ends([])
    for paths, body in ((yes, then), (no, otherwise)):
        if not paths:
            continue
        if not body:
            ends.out += paths
            continue
        done = run(body, paths)
        ends.out += done.out
        ends.take(done)
    return ends


@follows("sw")
def _switch(path: PathState, statement: Statement) -> Ends:
    """Control runs from one group of cases into the next."""
    _, line, subject, groups = statement
    value = evaluate(path, subject)
    known = is_exact(value.range)
    ends = Ends([])
    running: list[PathState] = []
    taken = defaulted = False
    for number, (cases, body) in enumerate(groups):
        default = None in cases
        defaulted = defaulted or default
        entry: list[PathState] = []
        if not known:
            entry = [_taking(path.copy(), subject, case, line) for case in cases[:1]]
        elif _holds(path, cases, value) or (default and number == len(groups) - 1):
            entry = [] if taken else [path.copy()]
            taken = True
        done = run(body, few(running + entry))
        running = done.out
        ends.out += done.left.get(BREAK, [])
        ends.take(done, BREAK)
    ends.out += running
    if not taken and (known or not (defaulted or _are_all(path, groups, value))):
        ends.out.append(path)
    return ends


def _are_all(path: PathState, groups: list[Any], value: Value) -> bool:
    """Tell whether the cases of a switch are all that its value can be."""
    low, high = value.range
    if low is None or high is None or high - low >= CASES_MAX:
        return False
    given = {evaluate(path.copy(), case).range for cases, _ in groups for case in cases if case is not None}
    return all((number, number) in given for number in range(low, high + 1))


def _holds(path: PathState, cases: list[Expression | None], value: Value) -> bool:
    return any([evaluate(path.copy(), case).range == value.range for case in cases if case is not None])


def _taking(path: PathState, subject: Expression, case: Expression | None, line: int) -> PathState:
    """Return the path on which a switch takes a case."""
    path.doubt += 1
    if case is not None:
        value = evaluate(path, case)
        keep(path, "==", subject, evaluate(path, subject), value)
        path.note(line, f"{{}} is {said(case)}", subject)
    return path
