"""flow_tainted_size: memory of a size from outside is allocated, and nothing limits it."""

from collections.abc import Sequence

from jarvis_workers.dataflow.library.model import LibraryCall, on_allocation
from jarvis_workers.dataflow.state.path import FlowRule
from jarvis_workers.dataflow.state.ranges import in_units, is_exact
from jarvis_workers.dataflow.state.values import Value

RULE = FlowRule("flow_tainted_size")
SIZE_FROM_OUTSIDE = 0.72
LARGE = 2**24


@on_allocation
def _allocated(call: LibraryCall, counts: Sequence[Value]) -> None:
    if not all(is_exact(one.range) for one in counts):
        call.prove("harmless_size", holds=all(_is_small(one) for one in counts))
    tainted = next((one for one in counts if one.taint), None)
    if tainted and not tainted.checked and not _is_small(tainted):
        text = "uses an untrusted size without an upper bound"
        call.report(RULE, text, since=tainted.taint, sure=SIZE_FROM_OUTSIDE)


def _is_small(count: Value) -> bool:
    return count.range[1] is not None and count.range[1] <= LARGE and not in_units(count.range)
