"""Bounds checks of memory accesses."""

from jarvis_workers.dataflow.ast_queries import variables_in
from jarvis_workers.dataflow.contents import Access
from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.pretty import text_of
from jarvis_workers.dataflow.ranges import is_exact
from jarvis_workers.dataflow.reports import report
from jarvis_workers.dataflow.sizes import OTHER, TYPE_ENDS
from jarvis_workers.dataflow.values import MEMORY, Object, Range, Value

SURE, MAYBE_NEGATIVE, UNBOUNDED, PERHAPS = 0.88, 0.8, 0.82, 0.6


def comparable(amount: int, size: int) -> bool:
    """Return whether two sizes are comparable: both are known, or both are multiples of the same unknown type."""
    return (amount % OTHER == 0) == (size % OTHER == 0)


def room(value: Value, target: Object) -> int | None:
    """Return the number of bytes from a pointer to the end of its object; None if it is unknown."""
    size, (low, high) = target.size, value.at
    if size[0] is None or size[0] != size[1] or low is None or target.kind not in MEMORY:
        return None
    return size[0] - (high if high is not None and high == low else low)


def check_bounds(path: PathState, access: Access, target: Object, start: Range, width: int) -> None:
    """Report an access that begins before its object or ends past it."""
    _check_start(path, access, target, start)
    size = target.size[1]
    if size is None or not comparable(width, size):
        return
    index, (low, high) = access.subscript, start
    reach = width if access.place is not None else 1
    what = "written" if access.writing else "read"
    name = text_of(access.pointer)
    informative = index.range[1] not in TYPE_ENDS or (index.taint is not None and not index.checked)
    if high is not None and high + reach > size and target.size[0] == size and informative:
        sure = SURE if low == high or index.taint or _is_counted(path, access) else PERHAPS
        text = f"{name} is {what} {high + reach - size} bytes past its end ({size} bytes)"
        _past_end(path, access, text, sure, target)
    elif index.taint and high is None and not index.checked:
        text = f"{name} ({size} bytes) is {what} at an untrusted index without an upper bound"
        _past_end(path, access, text, UNBOUNDED, target)


def _is_counted(path: PathState, access: Access) -> bool:
    """Return whether the index takes every value of its range: it is one loop counter, and the pointer is fixed.

    Two varying parts may be correlated, so that their extremes never occur together.
    """
    return bool(path.machine.counting) and is_exact(access.value.at) and len(variables_in((access.place,))) <= 1


def _past_end(path: PathState, access: Access, text: str, sure: float, target: Object) -> None:
    pattern = "flow_buffer_overflow" if access.writing else "flow_buffer_overread"
    report(path, pattern, path.machine.line, text, since=access.subscript.taint or target.made, sure=sure)


def _check_start(path: PathState, access: Access, target: Object, start: Range) -> None:
    index, (low, high) = access.subscript, start
    pattern = "flow_buffer_underwrite" if access.writing else "flow_buffer_underread"
    what = "written" if access.writing else "read"
    if low is not None and low < 0:
        text = f"{text_of(access.pointer)} is {what} {-low} bytes before its start"
        sure = SURE if is_exact(start) or index.taint or _is_counted(path, access) else PERHAPS
        report(path, pattern, path.machine.line, text, since=index.taint or target.made, sure=sure)
    elif index.taint and low is None and high is not None and index.checked:
        text = f"{text_of(access.pointer)} is {what} at an untrusted index that may be negative"
        report(path, pattern, path.machine.line, text, since=index.taint, sure=MAYBE_NEGATIVE)
