"""flow_buffer_overflow, _overread, _underwrite and _underread: an access through a pointer leaves its object."""

from collections.abc import Sequence

from jarvis_workers.dataflow.events import Access, on_access, on_member_outside, on_unknown_access
from jarvis_workers.dataflow.ir.expr import Expression, NameExpr, UpdateExpr
from jarvis_workers.dataflow.library import LIBRARY
from jarvis_workers.dataflow.memory.contents import is_counted
from jarvis_workers.dataflow.memory.extents import excess, extent_of, is_declared
from jarvis_workers.dataflow.queries.ast_queries import variables_in
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import DOUBTED, SOMETIMES, FlowRule, PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.sizes import TYPE_ENDS, comparable, shown_size
from jarvis_workers.dataflow.state.values import LinearExtent, Object, OpenMove, Place, Range

# Where a parser of Bison or yacc reduces by a rule, its tables guarantee that the stacks hold what the rule needs.
PARSER_STACKS = frozenset(("yyvsp", "yyssp", "yylsp", "yypvt"))
OVERFLOW = FlowRule("flow_buffer_overflow", DOUBTED, SOMETIMES)
OVERREAD = FlowRule("flow_buffer_overread", DOUBTED, SOMETIMES)
UNDERWRITE = FlowRule("flow_buffer_underwrite", DOUBTED, SOMETIMES)
UNDERREAD = FlowRule("flow_buffer_underread", DOUBTED, SOMETIMES)
SURE, MAYBE_NEGATIVE, UNBOUNDED, PERHAPS, BY_EXTENT = 0.88, 0.8, 0.82, 0.6, 0.82


@on_access
def _accessed(path: PathState, access: Access, target: Object, start: Range, width: int) -> None:
    """Report an access that begins before its object or ends past it."""
    _check_start(path, access, target, start)
    size = target.size[1]
    if target.extent is not None:
        _check_extent(path, access, target, width)
    if path.machine.execution.open_moves and _leaves_openly(path, access, target):
        return
    index, (low, high) = access.subscript, start
    if size is None or not comparable(width, size) or (high and not comparable(high, size)):
        return
    reach = width if access.place is not None else 1
    what = "written" if access.writing else "read"
    name = text_of(access.pointer)
    informative = index.range[1] not in TYPE_ENDS or (index.taint is not None and not index.checked)
    if high is not None and high + reach > size and target.size[0] == size and informative:
        sure = _sure_of(path, access, exact=low == high)
        if sure is None:
            return
        text = f"{name} is {what} {shown_size(high + reach - size)} past its end ({shown_size(size)})"
        _past_end(path, access, text, sure, target)
    elif access.place is not None and high is None and target.size[0] == size and _begins_behind(low, size):
        text = f"{name} is {what} past its end ({shown_size(size)})"
        _past_end(path, access, text, PERHAPS, target)
    elif index.taint and high is None and not index.checked:
        text = f"{name} ({shown_size(size)}) is {what} at an untrusted index without an upper bound"
        _past_end(path, access, text, UNBOUNDED, target)


def _begins_behind(low: int | None, size: int) -> bool:
    return low is not None and low >= size and comparable(low, size)


@on_unknown_access
def _before_start(path: PathState, access: Access) -> None:
    """Report the negative result of a search as an index of any memory."""
    low, high = access.subscript.range
    if low is not None and low == high and low < 0 and access.subscript.why is not None:
        rule = UNDERWRITE if access.writing else UNDERREAD
        text = f"{text_of(access.pointer)} is {'written' if access.writing else 'read'} at the index {low}"
        rule.report(path, path.machine.execution.line, text, since=access.subscript.why, sure=PERHAPS)


@on_member_outside
def _member(path: PathState, e: Expression, target: Object, end: int, writing: bool) -> None:
    """Report a member that is not in the memory that was allocated for its struct."""
    room = target.size[0] or 0
    text = f"{text_of(e)} ends at byte {end} of memory of {shown_size(room)}"
    rule = OVERFLOW if writing else OVERREAD
    rule.report(path, path.machine.execution.line, text, since=target.made, sure=SURE)


def _check_extent(path: PathState, access: Access, target: Object, width: int) -> None:
    """Report an access behind memory whose size is a multiple of a variable."""
    if (
        access.place is None
        or access.value.at != (0, 0)
        or target.extent is None
        or not comparable(width, target.extent.unit)
    ):
        return
    last = extent_of(path, access.place)
    if last is None:
        return
    reached = path.machine.mode.reaches.get(last.variable)
    if reached is not None and last.unit == 1:
        last = reached._replace(extra=reached.extra + last.extra)
    more = excess(target.extent, LinearExtent(last.variable, last.unit * width, last.extra * width + width))
    if more is not None:
        what = "written" if access.writing else "read"
        text = f"{text_of(access.pointer)} is {what} at least {more} bytes past its end (a multiple of a variable)"
        _past_end(path, access, text, BY_EXTENT, target)


def _leaves_openly(path: PathState, access: Access, target: Object) -> bool:
    """Report an access through a variable that a loop moves without a bound, if the size of the memory is fixed."""
    return access.writing and reports_open_move(path, (access.pointer, access.place), target)


def reports_open_move(path: PathState, parts: Sequence[Expression | None], target: Object) -> bool:
    """Report a write at the sum of a pointer and an index, one of which a loop moves out of memory of a fixed size."""
    moves = path.machine.execution.open_moves
    for e in parts:
        place = _variable(path, e.operand if isinstance(e, UpdateExpr) else e)
        move = moves.get(place) if place is not None else None
        most = target.size[1] or 0
        if move is None or not _leaves(move, target):
            continue
        # An array sized by an unknown type has no known number of elements.
        is_counted = most and comparable(most, target.element)
        size = f" ({most // target.element} elements)" if is_counted else ""
        text = f"{text_of(parts[0])}{size} is written in a loop that its size does not limit"
        rule = OVERFLOW if move.step > 0 else UNDERWRITE
        line = path.machine.execution.line
        at = move.line if move.line and not path.frame.depth else None
        rule.report(path, line, text, since=move.event, sure=UNBOUNDED, at=at)
        path.machine.execution.open_moves = {key: one for key, one in moves.items() if key != place}
        return True
    return False


def _leaves(move: OpenMove, target: Object) -> bool:
    """Return whether a variable moves out of memory of a declared size, or one that the same variable says."""
    if isinstance(move.reach, LinearExtent):
        reach = move.reach._replace(unit=move.reach.unit * target.element, extra=move.reach.extra * target.element)
        room = target.extent
        return room is not None and room.variable == reach.variable and reach.unit > room.unit
    if not is_declared(target):
        return False
    return move.reach is None or move.reach * target.element > (target.size[1] or 0)


def _variable(path: PathState, e: Expression | None) -> Place | None:
    local = path.frame.types.get(e.name) if isinstance(e, NameExpr) else None
    return local.place if local is not None else None


def _sure_of(path: PathState, access: Access, *, exact: bool) -> float | None:
    """Return the confidence that the index takes the extreme of its range; None if its parts may exclude that."""
    if exact or access.subscript.taint or is_counted(path, access):
        return SURE
    return PERHAPS if access.place is None or len(variables_in((access.place,)) - LIBRARY.keys()) <= 1 else None


def _past_end(path: PathState, access: Access, text: str, sure: float, target: Object) -> None:
    rule = OVERFLOW if access.writing else OVERREAD
    rule.report(path, path.machine.execution.line, text, since=access.subscript.taint or target.made, sure=sure)


def _check_start(path: PathState, access: Access, target: Object, start: Range) -> None:
    index, (low, high) = access.subscript, start
    rule = UNDERWRITE if access.writing else UNDERREAD
    what = "written" if access.writing else "read"
    if low is not None and low < 0:
        if isinstance(access.pointer, NameExpr) and access.pointer.name in PARSER_STACKS:
            return
        text = f"{text_of(access.pointer)} is {what} {shown_size(-low)} before its start"
        sure = _sure_of(path, access, exact=is_exact(start))
        if sure is not None:
            rule.report(path, path.machine.execution.line, text, since=index.taint or target.made, sure=sure)
    elif index.taint and low is None and high is not None and index.checked:
        text = f"{text_of(access.pointer)} is {what} at an untrusted index that may be negative"
        rule.report(path, path.machine.execution.line, text, since=index.taint, sure=MAYBE_NEGATIVE)
