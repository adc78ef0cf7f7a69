"""flow_buffer_overflow, _overread, _underwrite and _underread: a library function leaves its buffer."""

from jarvis_workers.dataflow.ir.expr import AddressExpr, ArrowExpr, BinaryExpr, IndexExpr, MemberExpr, NameExpr
from jarvis_workers.dataflow.library.model import (
    LibraryCall,
    begins_before,
    on_length,
    on_measured_write,
    on_read,
    on_read_start,
    on_unterminated_text,
    on_write,
)
from jarvis_workers.dataflow.memory.extents import excess, is_declared, room
from jarvis_workers.dataflow.queries.ast_queries import variables_in, without_casts
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.rules.buffer_access import OVERFLOW, OVERREAD, UNDERREAD, UNDERWRITE, reports_open_move
from jarvis_workers.dataflow.state.context import facts_of
from jarvis_workers.dataflow.state.path import FlowRule
from jarvis_workers.dataflow.state.ranges import most
from jarvis_workers.dataflow.state.sizes import comparable, is_in_units, shown_excess, shown_size
from jarvis_workers.dataflow.state.values import LinearExtent, Object, Range

BEFORE, EXACT, PERHAPS, READ, PERHAPS_READ = 0.88, 0.9, 0.62, 0.88, 0.6
BY_EXTENT, NOT_LIMITED, NOT_TERMINATED = 0.82, 0.48, 0.7


@on_write
def _written(call: LibraryCall, place: int, amount: Range, certain: bool) -> None:
    target = call.object(place)
    if target is None or _begins_before(call, place, target, UNDERWRITE, "writes"):
        return
    part = call.node.args[place]
    if call.path.machine.execution.open_moves:
        match part:
            case BinaryExpr(left=base, right=index) | AddressExpr(operand=IndexExpr(base=base, subscript=index)):
                reports_open_move(call.path, (base, index), target)
    left, low = room(call.value(place), target), amount[0]
    much = most(amount) if certain else low
    if left is not None and much is not None and much > left and comparable(much, target.size[1] or 0):
        exact = low is not None and low > left
        text = f"{'writes' if exact and certain else 'may write'} {shown_excess(much, left)}{_by_whom(call)}"
        call.report(OVERFLOW, text, since=target.made, sure=EXACT if exact else PERHAPS)


@on_measured_write
def _measured(call: LibraryCall, target: Object, needed: LinearExtent) -> None:
    more = excess(target.extent, needed) if target.extent is not None else None
    if more is not None and target.extent is not None and comparable(needed.unit, target.extent.unit):
        text = f"writes at least {more} bytes past the end of memory whose size depends on the same variable"
        call.report(OVERFLOW, text, since=target.made, sure=BY_EXTENT)


@on_read
def _read(call: LibraryCall, place: int, amount: Range) -> None:
    target = call.object(place)
    if target is None or _begins_before(call, place, target, UNDERREAD, "reads"):
        return
    left, much = room(call.value(place), target), most(amount)
    if left is not None and much is not None and much > left and comparable(much, target.size[1] or 0):
        sure = READ if amount[0] == amount[1] else PERHAPS_READ
        call.report(OVERREAD, f"reads {shown_excess(much, left)}{_by_whom(call)}", since=target.made, sure=sure)


def _by_whom(call: LibraryCall) -> str:
    """Return that the length of a call comes from outside, for its text."""
    is_outside = any(value.taint and value.target is None for value in call.values)
    return ", by an untrusted length" if is_outside else ""


@on_read_start
def _started(call: LibraryCall, place: int) -> None:
    target = call.object(place)
    if target is not None:
        _begins_before(call, place, target, UNDERREAD, "reads")


def _begins_before(call: LibraryCall, place: int, target: Object, rule: FlowRule, does: str) -> bool:
    value = call.value(place)
    if not begins_before(value, target):
        return False
    text = f"{does} {shown_size(-(value.at[0] or 0))} before the start of the buffer"
    call.report(rule, text, since=target.made, sure=BEFORE)
    return True


@on_unterminated_text
def _unterminated(call: LibraryCall, place: int, target: Object) -> None:
    text = f"reads a text that may fill {text_of(call.node.args[place])} without a NUL at its end"
    call.report(OVERREAD, text, since=target.full, sure=NOT_TERMINATED)


@on_length
def _unlimited(call: LibraryCall, place: int, to: int) -> None:
    """Report a length that nothing limits, if it fills memory of a fixed size."""
    if call.value(place).taint:
        return
    target, count, part = call.object(to), call.value(place), call.node.args[place]
    part = without_casts(part)
    if target is None or count.range[1] is not None or count.checked or count.kind or call.path.frame.depth:
        return
    left = room(call.value(to), target)
    if left is None or not is_declared(target) or not isinstance(part, (NameExpr, MemberExpr, ArrowExpr)):
        return
    limits = facts_of(call.path.frame.function).limits
    if any(limits.get(name, call.line) < call.line for name in variables_in((part,))):
        return
    remain = shown_size(left) if is_in_units(left) else left
    text = f"writes {text_of(part)} bytes, which nothing here limits, but only {remain} remain"
    call.report(OVERFLOW, text, since=target.made, sure=NOT_LIMITED)
