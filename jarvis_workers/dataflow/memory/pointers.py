"""State changes of pointers that are dereferenced, tested or passed on: NULL, released or escaped."""

from jarvis_workers.dataflow.events import on_null_dereference, on_unchecked_dereference, on_use_after_free
from jarvis_workers.dataflow.execution.exits import SINGLE_FROM
from jarvis_workers.dataflow.ir.expr import Expression, IndexExpr
from jarvis_workers.dataflow.queries.ast_queries import walk
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.values import (
    ANY,
    IS_NULL,
    MAYBE_NULL,
    NOT_NULL,
    OWNED_DESCRIPTOR,
    UNKNOWN,
    PathEvent,
    Place,
    Range,
    Value,
)

# The released element of an array may be another one than the element that is used.
OTHER_ELEMENT = 0.3
# The callee returns NULL on one of its paths, which its callers may know to be impossible.
RETURNS_NULL = "{} returns NULL"


def dereferenced(path: PathState, pointer: Expression, value: Value, line: int) -> bool:
    """Evaluate a possible null dereference; return whether the path continues."""
    if value.null == IS_NULL and (path.machine.execution.steps > SINGLE_FROM or _is_handed_on(path, value.why)):
        # Of the paths that would tell which pointers are still NULL, only one is left.
        return True
    if value.null == IS_NULL:
        on_null_dereference.happens(path, pointer, value, line)
        path.ended = True
        return False
    on_unchecked_dereference.happens(path, pointer, value, line)
    if value.target is not None:
        assume_not_null(path, value)
    return True


def _is_handed_on(path: PathState, why: PathEvent | None) -> bool:
    """Return whether a function got the NULL that another one returned: its caller knows when that happens."""
    if why is None or why.note != RETURNS_NULL:
        return False
    frame = path.frame
    return why.file != frame.file or not frame.function.line <= why.line <= frame.function.end


def used_after_free(path: PathState, pointer: Expression, value: Value, line: int, *, is_certain: bool = True) -> None:
    """Record a use after free, once per object."""
    key = value.target or ""
    on_use_after_free.happens(path, pointer, value, line, is_certain)
    path.objects[key] = path.objects[key]._replace(freed=None, lost=True, unset_from=None)


def doubt_of_element(freed: PathEvent | None, pointer: Expression) -> float:
    """Return the doubt about a use of a released object: it may be another element if the subscripts differ."""
    before = _subscripts(freed.about) if freed is not None and freed.about is not None else []
    after = _subscripts(pointer)
    return OTHER_ELEMENT if before and after and before != after else 0.0


def _subscripts(e: Expression) -> list[Expression]:
    return [part.subscript for part in walk(e) if isinstance(part, IndexExpr)]


def escape(path: PathState, value: Value) -> None:
    """Mark an object as escaped: other code may own it, and the memory around it if it is an array in a struct."""
    made = path.object_of(value)
    around = path.machine.around.get(value.target or "")
    if around in path.objects:
        escape(path, Value(target=around))
    if made is not None and not made.lost:
        path.objects[value.target or ""] = made._replace(lost=True)
        if made.kind == "heap" or around:
            escape_inside(path, value.target or "")


def escape_inside(path: PathState, key: str) -> None:
    """Mark the objects that an object points to as escaped."""
    for (name, _), current in path.cells.items():
        if name == key and current.target:
            escape(path, current)


def forget_inside(path: PathState, key: str) -> None:
    """Drop the contents of the objects that an object points to."""
    for inner in {current.target for (name, _), current in path.cells.items() if name == key}:
        if inner is not None and inner != key:
            forget_contents(path, inner, keep=False)


def assume_null(path: PathState, value: Value) -> None:
    """Record that a pointer is NULL: its allocation failed on this path."""
    made = path.object_of(value)
    if made is not None and made.freed is None:
        path.objects[value.target or ""] = made._replace(lost=True)
    for cell, current in path.cells.items():
        if current.target == value.target and current.null == MAYBE_NULL:
            path.cells[cell] = current._replace(range=(0, 0), target=None, null=IS_NULL)


def assume_not_null(path: PathState, value: Value) -> None:
    """Record that a pointer is not NULL, and with it all pointers to the same object; a stream owns its descriptor."""
    escape(path, path.cells.get((value.target or "", OWNED_DESCRIPTOR), ANY))
    if (made := path.object_of(value)) is not None and made.replaces is not None:
        replaced(path, value.target or "")
    for cell, current in path.cells.items():
        if current.target == value.target and current.null == MAYBE_NULL:
            path.cells[cell] = current._replace(null=NOT_NULL)


def replaced(path: PathState, key: str) -> None:
    """Record that realloc has released the object in whose place another one is."""
    made = path.objects[key]
    old = path.objects.get(made.replaces or "")
    path.objects[key] = made._replace(replaces=None)
    if old is not None and old.freed is None and made.made is not None:
        path.objects[made.replaces or ""] = old._replace(freed=made.made._replace(note="{} releases the old memory"))


def narrowed(path: PathState, value: Value, reach: Range) -> None:
    """Record that a descriptor below 0 is not open."""
    made = path.object_of(value)
    if made is not None and made.kind == "descriptor" and reach[1] is not None and reach[1] < 0:
        path.objects[value.target or ""] = made._replace(lost=True)


def forget_aliases(path: PathState, place: Place) -> None:
    """Drop the pointers to unknown memory that a write through an unknown pointer may change: equal members, or any."""
    ending = "".join(place[1].rpartition(".")[1:])
    for cell in _cells_of_unknown(path):
        is_reached = cell[1] or not cell[0].partition(":")[0].isdigit()
        if cell[0] != place[0] and cell[1].endswith(ending) and is_reached:
            _drop(path, cell)


def forget_reachable(path: PathState, key: str) -> None:
    """Drop the pointers to an object, but those in variables, and in variables that an unknown function may change."""
    for cell in _cells_of_unknown(path):
        if cell[0].startswith("g:") or (cell[1] and path.cells[cell].target == key):
            _drop(path, cell)


def _drop(path: PathState, cell: Place) -> None:
    """Forget a value; what is set of known memory are the cells that it has."""
    if cell[0] in path.objects:
        path.cells[cell] = ANY
    else:
        del path.cells[cell]


def _cells_of_unknown(path: PathState) -> list[Place]:
    """Return the cells that point to memory which got a name where it was used first."""
    return [cell for cell, value in path.cells.items() if value[1] is not None and value[1][:2] == "o:"]


def forget_contents(path: PathState, key: str, *, keep: bool) -> None:
    """Drop the contents of an object that a callee may modify; with `keep`, drop only plain values and `unset_from`."""
    for inner in path.machine.inner_arrays.get(key, ()):
        if inner in path.objects and not keep:
            del path.objects[inner]
    target = path.objects.get(key)
    if target is not None and target.kind == "text":
        # Nobody changes a literal.
        return
    if target is not None:
        text_known = not keep and (target.length != UNKNOWN or target.filled or target.full)
        if text_known or target.unset_from is not None:
            target = target._replace(unset_from=None)
            path.objects[key] = target if keep else target._replace(length=UNKNOWN, filled=0, full=None, own=False)
        if keep:
            return
    for cell in path.cells_of(key):
        # A function that only reads a struct keeps its fields, but what is unset may be its out-parameter.
        if cell[1] != "&" and not (keep and cell[1] and not path.cells[cell].unset):
            # The callee may release what the cell points to, or replace it.
            escape(path, path.cells.pop(cell))
