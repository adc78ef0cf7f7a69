"""Track memory, streams and descriptors from their allocation to their release or leak."""

import re

from jarvis_workers.dataflow.events import Release, on_local_returned, on_release, on_return, on_second_release
from jarvis_workers.dataflow.expressions.evaluate import evaluate, evaluate_all, evaluates
from jarvis_workers.dataflow.expressions.lvalues import name_target
from jarvis_workers.dataflow.ir.expr import (
    NEWS,
    AddressExpr,
    CallExpr,
    ConstructExpr,
    DeleteExpr,
    DerefExpr,
    DesignatedExpr,
    Expression,
    IndexExpr,
    InitListExpr,
    LambdaExpr,
    MemberExpr,
    NameExpr,
    NewExpr,
    PlacementNewExpr,
)
from jarvis_workers.dataflow.ir.stmt import LoweredFunction, ReturnStmt
from jarvis_workers.dataflow.memory.pointers import escape, escape_inside
from jarvis_workers.dataflow.queries.ast_queries import moves_subscript, variables_in, walk
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import times
from jarvis_workers.dataflow.state.sizes import limits_of
from jarvis_workers.dataflow.state.types import key_of, type_of
from jarvis_workers.dataflow.state.values import ANY, IS_NULL, NOT_NULL, UNKNOWN, Object, PathEvent, Place, Value

OWNED = ("heap", "stream", "descriptor")
ALLOCATED = ("malloc", "new", "new[]")
WHERE = {"stack": "stack memory", "static": "static memory", "text": "a literal"}
INTERRUPTED, CALLS = "EINTR", "calls "
MAINS = ("main", "wmain")
# Classes that refer to what they are made from, by their names.
VIEWS = re.compile(r"(?i)view|span|slice|piece|ref|ptr|pointer|iter|range|handle")


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
    if where and not _is_nothrow(e.placement[0]):
        evaluate_all(path, parts)
        return where[0]._replace(null=NOT_NULL)
    many = evaluate(path, count).range if count is not None else (1, 1)
    evaluate_all(path, parts)
    element = path.machine.size_of(kind)
    number_held = limits_of(kind) is not None
    family = "new[]" if count is not None else "new"
    unset = 0 if number_held and not parts else None
    value = make(path, e, Object("heap", family, times(many, element), element, unset_from=unset))
    if parts and _is_adopted(path, e):
        escape(path, value)
    return value if number_held else value._replace(kind=kind)


def _is_nothrow(e: Expression) -> bool:
    return isinstance(e, NameExpr) and e.name.rpartition("::")[2] == "nothrow"


def _is_adopted(path: PathState, e: NewExpr | PlacementNewExpr) -> bool:
    """Return whether a constructor may hand its object to another one, such as a parent that it gets."""
    if not any(_is_object(path, one) for one in e.args):
        return False
    constructor = path.machine.function(f"{e.type}::{e.type}")
    if constructor is None:
        return True
    function, _ = constructor
    calls = [node.args for node in walk(function.body) if isinstance(node, CallExpr)]
    return "this" in variables_in(tuple(calls)) or any(
        path.machine.type_named(one.member) is not None or one.member[:1].isupper() for one in function.init
    )


def _is_object(path: PathState, e: Expression) -> bool:
    """Return whether an argument refers to an object of a class."""
    if isinstance(e, (AddressExpr, DerefExpr)) or (isinstance(e, NameExpr) and e.name == "this"):
        return True
    kind = path.machine.plain(type_of(path, e) or "")
    return kind[-1:] in ("*", "&") and limits_of(kind.rstrip("*&")) is None and kind.rstrip("*&") != "void"


@evaluates(DeleteExpr)
def _delete(path: PathState, e: DeleteExpr) -> Value:
    path.machine.execution.line = e.line
    release_object(path, e.operand, evaluate(path, e.operand), "new[]" if e.array else "new", e.line)
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
    """Evaluate a constructor of unknown body: the object may own what it gets."""
    for value in evaluate_all(path, e.args):
        escape(path, value)
    return ANY


def release_object(path: PathState, e: Expression, value: Value, family: str, line: int) -> None:
    """Evaluate free, delete, fclose or close, which releases objects of an allocator family."""
    if value.target is None and not value.unset and value.null != IS_NULL:
        value = name_target(path, e, value)
    if value.unset or value.target is None:
        return
    target = path.objects.get(value.target)
    allocated = family in ALLOCATED
    if target is None:
        if value.target.partition(":")[0].isdigit() or value.target.startswith("g:"):
            on_release.happens(path, Release(e, value, None, family, line))
            return
        target = Object("other")
    if target.freed is not None and target.freed.about is e and moves_subscript(path.frame.function, e):
        # A later iteration of a loop releases another element.
        return
    release = Release(e, value, target, family, line)
    if target.freed is None:
        on_release.happens(path, release)
        if not allocated or not is_unallocated(target):
            _end(path, value.target, target, path.note(line, "{} is released", e))
    elif allocated or not _repeats(path, target.freed, e):
        on_second_release.happens(path, release)


def _end(path: PathState, key: str, target: Object, freed: PathEvent) -> None:
    """Record the release of an object, and of the arrays in it."""
    path.objects[key] = target._replace(freed=freed)
    for inner in path.machine.inner_arrays.get(key, ()):
        if inner in path.objects:
            path.objects[inner] = path.objects[inner]._replace(freed=freed)


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


def follow_release(path: PathState, freed: PathEvent | None) -> None:
    """Note that what is wrong behind a release is reported where it happens."""
    if freed is not None and freed.file is None and not path.machine.mode.quiet:
        path.machine.reported.add(("followed_free", freed.line))


def is_unallocated(target: Object) -> bool:
    """Return whether an object is no memory that an allocator returned."""
    return target.kind in WHERE and (target.kind == "text" or target.size != UNKNOWN or target.family == "alloca")


def stored(path: PathState, target: Expression, place: Place, value: Value) -> None:
    """Name an object after the variable that holds it; if the variable is not local, ownership has escaped."""
    made, key, execution = path.object_of(value), value.target or "", path.machine.execution
    if not path.frame.depth and is_local(path, key) and not is_own(path, place):
        execution.handed_out[place, key] = PathEvent(path.trail, None, execution.line, "{} is set", target)
    if made is not None and made.kind == "stack" and place[1] and made.unset_from is not None:
        # Whoever gets the struct may fill the array.
        path.objects[value.target or ""] = made._replace(unset_from=None)
    if made is None or made.kind not in OWNED:
        return
    if not made.name:
        path.objects[key] = made._replace(name=text_of(target))
    if not made.lost and not (is_own(path, place) or _is_in_owned(path, place[0])):
        escape(path, value)


def is_local(path: PathState, key: str) -> bool:
    """Return whether an object ends with the function of the path's frame: a variable, or a part of one."""
    return key.startswith(f"{path.frame.number}:") and key.partition(".")[0] not in path.machine.statics


def _is_in_owned(path: PathState, key: str) -> bool:
    """Return whether an object is memory that the path has allocated and alone owns, with what is stored in it."""
    around = path.objects.get(key)
    return around is not None and around.kind == "heap" and bool(around.family) and not around.lost and not around.freed


def is_own(path: PathState, place: Place) -> bool:
    """Return whether a cell ends with its function."""
    return place[0].partition(":")[0].isdigit() and place[0] not in path.machine.statics


def returned(path: PathState, statement: ReturnStmt) -> None:
    """Check a returned value: freed memory, a stack address, or an object whose ownership moves to the caller."""
    value, frame = path.returned, path.frame
    target = path.object_of(value)
    e = statement.value
    if e is not None:
        _check_addresses(path, e, statement.line)
    if target is None:
        if isinstance(e, NameExpr) and e.name in frame.types:
            # A struct that is returned by value takes what it points to along.
            escape_inside(path, key_of(path, e.name))
        return
    on_return.happens(path, statement, target)
    if frame.depth == 0 and (target.kind in OWNED or value.target in path.machine.around):
        escape(path, value)
    elif target.kind in OWNED:
        path.machine.handed_back.add(value.target or "")


def _is_reference(path: PathState, e: Expression) -> bool:
    """Return whether an expression is the address of a reference, or of a part of what one refers to."""
    while isinstance(e, (AddressExpr, MemberExpr, IndexExpr)):
        e = e.operand if isinstance(e, AddressExpr) else e.base
    local = path.frame.types.get(e.name) if isinstance(e, NameExpr) else None
    return local is not None and local.kind.endswith("&")


def _is_copied(path: PathState) -> bool:
    """Return whether a function returns a class that copies what it is made from, as strings do and views do not."""
    kind = path.machine.plain(path.frame.function.returns)
    return bool(kind) and kind != "auto" and not kind.endswith(("*", "&")) and VIEWS.search(kind) is None


def _check_addresses(path: PathState, e: Expression, line: int) -> None:
    """Raise an event for each address of a local variable in a value that a function returns."""
    values = [] if _is_reference(path, e) or _is_copied(path) else [path.returned]
    if isinstance(e, NameExpr) and e.name in path.frame.types and path.returned.target is None:
        key = key_of(path, e.name)
        values += [value for cell, value in path.cells.items() if cell[0] == key and cell[1].startswith(".")]
    for value in values:
        if is_local(path, value.target or ""):
            on_local_returned.happens(path, e, value, line)
