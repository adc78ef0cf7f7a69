"""Track memory, streams and descriptors from their allocation to their release or leak."""

from jarvis_workers.dataflow.expressions.evaluate import evaluate, evaluate_all, evaluates
from jarvis_workers.dataflow.expressions.lvalues import name_target
from jarvis_workers.dataflow.ir.expr import (
    NEWS,
    ConstructExpr,
    DeleteExpr,
    DesignatedExpr,
    Expression,
    InitListExpr,
    LambdaExpr,
    NameExpr,
    NewExpr,
    PlacementNewExpr,
)
from jarvis_workers.dataflow.ir.stmt import LoweredFunction, ReturnStmt
from jarvis_workers.dataflow.memory.pointers import doubt_of_element, escape, escape_inside
from jarvis_workers.dataflow.queries.ast_queries import moves_subscript, variables_in
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import times
from jarvis_workers.dataflow.state.reports import report
from jarvis_workers.dataflow.state.sizes import limits_of
from jarvis_workers.dataflow.state.types import key_of
from jarvis_workers.dataflow.state.values import ANY, IS_NULL, NOT_NULL, UNKNOWN, Object, PathEvent, Place, Value

OWNED = ("heap", "stream", "descriptor")
ALLOCATED = ("malloc", "new", "new[]")
RELEASED_BY = {"malloc": "free", "new": "delete", "new[]": "delete[]"}
WHERE = {"stack": "stack memory", "static": "static memory", "text": "a literal"}
CERTAIN, MOVED_SOMEHOW, STACK_RETURNED, LEAK = 0.9, 0.8, 0.88, 0.8
# The caller may only compare the pointer with NULL.
RETURNED_FREED = 0.65
# The end of the program releases what it has.
LEAK_AT_EXIT = 0.5
LENT = -0.15
INTERRUPTED, CALLS = "EINTR", "calls "
MAINS = ("main", "wmain")
MOVED = 0.88


def make(path: PathState, e: Expression, made: Object, *, null: int = NOT_NULL, note: str = "allocated by {}") -> Value:
    """Return a pointer to a new object that the call `e` allocates."""
    machine = path.machine
    key = machine.name("h")
    step = path.note(machine.execution.line, note, e)
    machine.made_at[key] = path.frame.call_line or machine.execution.line
    path.objects[key] = made._replace(made=step)
    return Value(target=key, null=null, why=step)


@evaluates(*NEWS)
def _new(path: PathState, e: NewExpr | PlacementNewExpr) -> Value:
    path.machine.execution.line = e.line
    done = path.results.pop(id(e), None)
    if done is not None:
        return done
    kind, count, parts = e.type, e.size, e.args
    where = evaluate_all(path, e.placement)
    if len(where) == 1 and where[0].target:
        return where[0]._replace(null=NOT_NULL)
    many = evaluate(path, count).range if count is not None else (1, 1)
    evaluate_all(path, parts)
    element = path.machine.size_of(kind)
    number_held = limits_of(kind) is not None
    family = "new[]" if count is not None else "new"
    unset = 0 if number_held and not parts else None
    value = make(path, e, Object("heap", family, times(many, element), element, unset_from=unset))
    return value if number_held else value._replace(kind=kind)


@evaluates(DeleteExpr)
def _delete(path: PathState, e: DeleteExpr) -> Value:
    path.machine.execution.line = e.line
    release(path, e.operand, evaluate(path, e.operand), "new[]" if e.array else "new", e.line)
    return ANY


@evaluates(InitListExpr)
def _braces(path: PathState, e: InitListExpr) -> Value:
    """Evaluate the items of an aggregate that is not tracked: it may own what they point to."""
    for item in e.items:
        escape(path, evaluate(path, item.value if isinstance(item, DesignatedExpr) else item))
    return ANY


@evaluates(LambdaExpr)
def _lambda(path: PathState, e: LambdaExpr) -> Value:
    """Evaluate a lambda: it may be called at any time, and then release what its variables point to."""
    for name in sorted(variables_in(e.body).intersection(path.frame.types)):
        escape(path, path.cells.get((key_of(path, name), ""), ANY))
    return ANY


@evaluates(ConstructExpr)
def _construct(path: PathState, e: ConstructExpr) -> Value:
    evaluate_all(path, e.args)
    return ANY


def release(path: PathState, e: Expression, value: Value, family: str, line: int) -> None:
    """Evaluate free, delete, fclose or close, which releases objects of an allocator family."""
    if value.target is None and not value.unset and value.null != IS_NULL:
        value = name_target(path, e, value)
    if value.unset or value.target is None:
        return
    target = path.objects.get(value.target)
    allocated = family in ALLOCATED
    if target is None:
        if value.target.partition(":")[0].isdigit() or value.target.startswith("g:"):
            if allocated:
                text = f"{text_of(e)} is the address of a variable and is released"
                report(path, "flow_bad_free", line, text, sure=CERTAIN)
            return
        target = Object("other")
    if target.freed is not None and target.freed.about is e and moves_subscript(path.frame.function, e):
        # A later iteration of a loop releases another element.
        return
    if target.freed is not None and (allocated or not _repeats(path, target.freed, e)):
        text = f"{text_of(e)} is released twice"
        sure = CERTAIN - doubt_of_element(target.freed, e)
        report(path, "flow_double_free", line, text, since=target.freed, sure=sure)
    elif target.freed is None and (not allocated or _may_be_released(path, e, value, target, family, line)):
        path.objects[value.target] = target._replace(freed=path.note(line, "{} is released", e))


def _repeats(path: PathState, freed: PathEvent, e: Expression) -> bool:
    """Return whether a loop repeats a close that a signal has interrupted: it may have left the descriptor open."""
    function = path.frame.function
    if freed.about is not e or not path.machine.property_of(INTERRUPTED, function, lambda: _knows_signals(function)):
        return False
    at = path.trail
    while at is not None and at is not freed:
        if at.note.startswith(CALLS):
            return False
        at = at.before
    return True


def _knows_signals(function: LoweredFunction) -> bool:
    return INTERRUPTED in variables_in(function.body)


def _may_be_released(path: PathState, e: Expression, value: Value, target: Object, family: str, line: int) -> bool:
    """Report an invalid release of memory; return whether the memory is released afterwards."""
    if target.kind in WHERE and (target.kind == "text" or target.size != UNKNOWN or target.family == "alloca"):
        text = f"{text_of(e)} is {WHERE[target.kind]} and is released"
        report(path, "flow_bad_free", line, text, since=target.made, sure=CERTAIN)
        return False
    if target.kind != "heap":
        return True
    low, high = value.at
    if value.at != UNKNOWN and (low or 0) >= 0 and (low != 0 or high is None or high > 0):
        text = f"{text_of(e)} no longer points to the start of its memory and is released"
        report(path, "flow_offset_free", line, text, since=target.made, sure=MOVED if low else MOVED_SOMEHOW)
    if target.family != family and target.family in ALLOCATED:
        text = f"{text_of(e)} comes from {target.family} and must be released by {RELEASED_BY[target.family]}"
        report(path, "flow_mismatched_free", line, text, since=target.made, sure=CERTAIN)
    return True


def stored(path: PathState, target: Expression, place: Place, value: Value) -> None:
    """Name an object after the variable that holds it; if the variable is not local, ownership has escaped."""
    made = path.object_of(value)
    if made is not None and made.kind == "stack" and place[1] and made.unset_from is not None:
        # Whoever gets the struct may fill the array.
        path.objects[value.target or ""] = made._replace(unset_from=None)
    if made is None or made.kind not in OWNED:
        return
    lost = made.lost or not is_own(path, place)
    if not made.name or lost != made.lost:
        path.objects[value.target or ""] = made._replace(name=made.name or text_of(target), lost=lost)


def is_own(path: PathState, place: Place) -> bool:
    """Return whether a cell ends with its function."""
    return place[0].partition(":")[0].isdigit() and place[0] not in path.machine.statics


def returned(path: PathState, statement: ReturnStmt) -> None:
    """Check a returned value: freed memory, a stack address, or an object whose ownership moves to the caller."""
    value, frame = path.returned, path.frame
    target = path.object_of(value)
    _, line, e = statement
    if target is None:
        if isinstance(e, NameExpr) and e.name in frame.types:
            # A struct that is returned by value takes what it points to along.
            escape_inside(path, key_of(path, e.name))
        return
    if target.freed is not None and frame.depth == 0:
        text = f"{text_of(e)} is returned after it was released"
        report(path, "flow_use_after_free", line, text, since=target.freed, sure=RETURNED_FREED)
    local = (value.target or "").startswith(f"{frame.number}:")
    if target.kind == "stack" and local and target.size != UNKNOWN:
        text = f"{text_of(e)} is stack memory of this function, invalid after it returns"
        report(path, "flow_stack_address", line, text, since=target.made, sure=STACK_RETURNED)
    if target.kind in OWNED and frame.depth == 0:
        escape(path, value)


def leaks(path: PathState, line: int) -> None:
    """Report the objects that a path has allocated and still owns at its end."""
    sure = LEAK_AT_EXIT if path.frame.function.name in MAINS else LEAK
    for key, target in path.objects.items():
        made = target.made
        if target.lost or target.freed is not None or made is None or target.kind not in OWNED or not target.family:
            continue
        pattern = "flow_memory_leak" if target.kind == "heap" else "flow_handle_leak"
        text = f"{target.name or 'the resource'} is not released on this path, which ends here"
        at = made.line if made.file is None else path.machine.made_at.get(key) or line
        report(path, pattern, line, text, since=made, sure=sure + (LENT if target.lent else 0.0), at=at)
