"""flow_tainted_length: a length from outside is used without a bound, or may be negative."""

from jarvis_workers.dataflow.library.model import LibraryCall, on_length
from jarvis_workers.dataflow.memory.extents import room
from jarvis_workers.dataflow.state.path import FlowRule
from jarvis_workers.dataflow.state.sizes import INT_MAX, TYPE_ENDS, limits_of
from jarvis_workers.dataflow.state.types import type_of

RULE = FlowRule("flow_tainted_length")
NO_BOUND, MAYBE_NEGATIVE = 0.8, 0.72


@on_length
def _used(call: LibraryCall, place: int, to: int) -> None:
    count = call.value(place)
    low, high = count.range
    if not count.taint:
        return
    if not count.checked:
        target = call.object(to)
        is_short = high is not None and high in TYPE_ENDS and high < INT_MAX
        fits = is_short and target is not None and room(call.value(to), target) is not None
        if not fits and (high is None or high in TYPE_ENDS or low is None or low < 0):
            call.report(RULE, "uses an untrusted length without a bound", since=count.taint, sure=NO_BOUND)
    elif high is not None and (low < 0 if low is not None else _is_signed(call, place)):
        text = "uses an untrusted length that has an upper bound but may be negative"
        call.report(RULE, text, since=count.taint, sure=MAYBE_NEGATIVE)


def _is_signed(call: LibraryCall, place: int) -> bool:
    bounds = limits_of(call.path.machine.plain(type_of(call.path, call.node.args[place]) or ""))
    return bounds is not None and bounds[0] < 0
