"""Track the contents of memory: how much of it is initialized, and the length of its string."""

from jarvis_workers.dataflow.events import Access, on_unset_elements, on_unset_memory
from jarvis_workers.dataflow.ir.expr import ArrowExpr, DerefExpr, Expression, IndexExpr
from jarvis_workers.dataflow.memory.outside import byte_at, overlaid, read_pointer, typed
from jarvis_workers.dataflow.memory.pointers import escape, escape_inside
from jarvis_workers.dataflow.queries.ast_queries import variables_in
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.types import is_row, type_of
from jarvis_workers.dataflow.state.values import ANY, UNKNOWN, Object, PathEvent, Place, Range, Value, number


def is_counted(path: PathState, access: Access) -> bool:
    """Return whether the index takes every value of its range: it is one loop counter, and the pointer is fixed.

    Two varying parts may be correlated, so that their extremes never occur together.
    """
    return bool(path.machine.mode.counting) and is_exact(access.value.at) and len(variables_in((access.place,))) <= 1


def written(path: PathState, key: str, target: Object, start: Range, width: int) -> None:
    """Record a write of one element; at an unknown index any element of the object may have changed."""
    changed = _text_behind(path, target, start, width)
    if target.full is not None or target.own:
        changed = changed._replace(full=None, own=False)
    if target.unset_from is not None:
        is_behind = is_exact(start) and start[0] is not None and start[0] > target.unset_from
        behind = _unset_behind(path, target, start, width)
        if behind != target.unset_from or is_behind > target.patchy:
            changed = changed._replace(unset_from=behind, patchy=target.patchy or is_behind)
    if not is_exact(start):
        for cell in path.cells_of(key):
            escape(path, path.cells.pop(cell))
    if changed is not target:
        path.objects[key] = changed


def _unset_behind(path: PathState, target: Object, start: Range, width: int) -> int | None:
    unset, (low, high) = target.unset_from, start
    if unset is None or low is None or high is None or (target.patchy and low != high):
        return None
    if low == high:
        return max(unset, low + width) if low <= unset else unset
    return max(unset, high + width) if low <= unset and path.machine.mode.counting else None


def _text_behind(path: PathState, target: Object, start: Range, width: int) -> Object:
    value, (low, high) = path.machine.execution.storing, start
    zero = value.range == (0, 0) and not value.target
    whole = width == target.element
    if zero and whole and low is not None and low == high:
        place = low // target.element
        return target._replace(length=(place, place) if target.filled >= place else (0, place))
    if zero and whole and target.length[1] is not None:
        return target._replace(length=(0, target.length[1]))
    positive = value.range[0] is not None and value.range[0] > 0
    counting = positive and whole and path.machine.mode.counting
    if counting and low is not None and high is not None and low <= target.filled * width:
        return target._replace(filled=max(target.filled, high // width + 1), length=UNKNOWN)
    return target if zero or target.length == UNKNOWN else target._replace(length=UNKNOWN)


def read(path: PathState, access: Access, target: Object, start: Range, width: int) -> None:
    """Evaluate a read of one element at an unknown index."""
    escape_inside(path, access.key)
    machine, high, unset = path.machine, start[1], target.unset_from
    if unset is None or machine.mode.quiet or machine.mode.addressing:
        return
    is_open = unset or start[0] is None or not machine.mode.counting or not _is_made_here(path, target)
    if (is_open if high is None else high < unset) or (start[0] or 0) < 0:
        return
    if access.key in machine.grids or access.key in machine.mode.filling or target.patchy:
        return
    if unset and not is_counted(path, access):
        # The elements that are read may be those that are set.
        return
    on_unset_elements.happens(path, access, target, (high or start[0] or 0) + width)
    path.objects[access.key] = target._replace(unset_from=None)


def loaded(path: PathState, e: Expression, place: Place) -> Value:
    """Return the value of a cell that this path has not written."""
    target = path.objects.get(place[0])
    if target is None:
        return (
            Value(taint=path.outside(_command_line(path))) if place[0].endswith("[]") else _of_unknown(path, e, place)
        )
    if target.unset_from is not None and target.kind in ("stack", "heap") and _is_unset(path, e, place, target):
        return ANY
    return read_pointer(path, e, typed(path, e, target.taint)) if target.taint else _character(place, target)


def _character(place: Place, target: Object) -> Value:
    """Return a character of a literal, or the end of a string of known length."""
    offset = place[1][1:-1] if place[1].startswith("[") and place[1].endswith("]") else ""
    length = target.length[0]
    if not offset.isdigit() or length is None or not is_exact(target.length):
        return ANY
    at, inside = divmod(int(offset), target.element)
    if at == length and not inside:
        return number(0)
    text = place[0].partition(":")[2].partition(":")[2] if target.kind == "text" and target.element == 1 else ""
    return number(ord(text[at])) if at < len(text) and text[at].isascii() else ANY


def _of_unknown(path: PathState, e: Expression, place: Place) -> Value:
    """Return the value of a part of a struct that was read as a whole, or of a byte of an unknown buffer."""
    whole = path.cells.get((place[0], ""))
    if whole is not None and place[1] and whole.taint is not None and whole.target is None:
        return read_pointer(path, e, typed(path, e, whole.taint))
    if place[0] in path.machine.execution.overlaid and isinstance(e, ArrowExpr):
        return overlaid(path, e)
    return byte_at(path, e)


def _is_unset(path: PathState, e: Expression, place: Place, target: Object) -> bool:
    """Return whether an uninitialized cell is read; a callee may initialize a struct that is passed to it.

    A row of an array of arrays is never read itself: it is an address.
    """
    machine = path.machine
    if machine.mode.quiet or machine.mode.addressing or is_row(path, e):
        return False
    offset = place[1][1 : place[1].find("]")] if place[1].startswith("[") else "0"
    if not offset.lstrip("-").isdigit() or int(offset) < (target.unset_from or 0):
        return False
    if "." in place[1] and (target.patchy or _is_set_around(path, place) or (target.lost and path.cells_of(place[0]))):
        return False
    plain = isinstance(e, (IndexExpr, DerefExpr)) or type_of(path, e)
    if not plain and machine.mode.passing:
        return False
    on_unset_memory.happens(path, e, target, bool(plain))
    path.objects[place[0]] = target._replace(unset_from=None)
    return True


def _is_made_here(path: PathState, target: Object) -> bool:
    """Return whether the function that reads memory has allocated it."""
    made, frame = target.made, path.frame
    return made is not None and made.file == frame.file and frame.function.line <= made.line <= frame.function.end


def _is_set_around(path: PathState, place: Place) -> bool:
    """Return whether a struct that a member is in was set as a whole."""
    part = place[1]
    while part := part.rpartition(".")[0]:
        if (place[0], part) in path.cells:
            return True
    return False


def _command_line(path: PathState) -> PathEvent:
    frame = path.frame
    return PathEvent(path.trail, frame.file, frame.function.line, "arguments come from the command line")
