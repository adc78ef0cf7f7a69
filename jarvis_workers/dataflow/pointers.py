"""What becomes of a pointer that is used, tested or given away: it may be NULL, released, or somebody else's now."""

from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.pretty import said
from jarvis_workers.dataflow.reports import report
from jarvis_workers.dataflow.values import IS_NULL, MAYBE_NULL, NOT_NULL, UNKNOWN, Range, Value

__all__ = [
    "dereferenced",
    "escape",
    "escape_inside",
    "forget_contents",
    "is_made",
    "narrowed",
    "never_made",
    "used_after_free",
]

GIVEN_NULL = 0.76
NULL_USED, TESTED_HERE, TESTED_IN_CALLER, UNTESTED = 0.9, 0.72, 0.6, 0.88
USED_AFTER_FREE = 0.9


def dereferenced(path: PathState, pointer: Expression, value: Value, line: int) -> bool:
    """Report a null pointer that is used; tell whether the path goes on."""
    name = said(pointer)
    if value.null == IS_NULL:
        text = f"{name} is NULL here and is dereferenced"
        report(path, "flow_null_dereference", line, text, since=value.why, sure=_sure_of_null(path, value))
        path.ended = True
        return False
    text = f"{name} is used without a NULL check"
    report(path, "flow_unchecked_null", line, text, since=value.why, sure=UNTESTED)
    if value.target is not None:
        is_made(path, value)
    return True


def _sure_of_null(path: PathState, value: Value) -> float:
    """A pointer that is NULL because a condition said so may have been tested for another reason."""
    why = value.why
    if why is None and path.frame.depth:
        return GIVEN_NULL
    if why is None or why.about is None or not why.note.endswith(("true", "false")):
        return NULL_USED
    return TESTED_HERE if why.file == path.frame.file else TESTED_IN_CALLER


def used_after_free(
    path: PathState, pointer: Expression, value: Value, line: int, sure: float = USED_AFTER_FREE
) -> None:
    """Report a use of what was released, once."""
    key = value.target or ""
    target = path.objects[key]
    text = f"{said(pointer)} is used after it was released"
    report(path, "flow_use_after_free", line, text, since=target.freed, sure=sure)
    path.objects[key] = target._replace(freed=None, lost=True)


def escape(path: PathState, value: Value) -> None:
    """Somebody else may know the object now."""
    made = path.object_of(value)
    if made is not None and not made.lost:
        path.objects[value.target or ""] = made._replace(lost=True)


def escape_inside(path: PathState, key: str) -> None:
    """Somebody else may know what an object points to."""
    for (name, _), held in path.cells.items():
        if name == key and held.target:
            escape(path, held)


def never_made(path: PathState, value: Value) -> None:
    """A pointer is NULL: there is no object on this path."""
    made = path.object_of(value)
    if made is not None and made.freed is None:
        path.objects[value.target or ""] = made._replace(lost=True)
    for cell, held in path.cells.items():
        if held.target == value.target and held.null == MAYBE_NULL:
            path.cells[cell] = held._replace(range=(0, 0), target=None, null=IS_NULL)


def is_made(path: PathState, value: Value) -> None:
    """A pointer is not NULL, and so is every other that was given the same."""
    for cell, held in path.cells.items():
        if held.target == value.target and held.null == MAYBE_NULL:
            path.cells[cell] = held._replace(null=NOT_NULL)


def narrowed(path: PathState, value: Value, reach: Range) -> None:
    """A descriptor below 0 is none."""
    made = path.object_of(value)
    if made is not None and made.kind == "descriptor" and reach[1] is not None and reach[1] < 0:
        path.objects[value.target or ""] = made._replace(lost=True)


def forget_contents(path: PathState, key: str, *, keep: bool) -> None:
    """Somebody may have written to an object; what is only read is kept, but for what is unset in it."""
    target = path.objects.get(key)
    if target is not None:
        text_known = not keep and (target.length != UNKNOWN or target.filled)
        if text_known or (target.unset_from is not None and not (keep and target.kind == "text")):
            target = target._replace(unset_from=None)
            path.objects[key] = target if keep else target._replace(length=UNKNOWN, filled=0)
        if keep:
            return
    for cell in path.cells_of(key):
        # Who only reads a struct leaves its fields; a variable by itself may well be what a call sets.
        if cell[1] != "&" and not (keep and cell[1]):
            del path.cells[cell]
