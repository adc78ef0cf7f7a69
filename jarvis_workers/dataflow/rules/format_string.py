"""flow_format_string: a format string comes from outside."""

from jarvis_workers.dataflow.library.model import LibraryCall, on_call, taint_of
from jarvis_workers.dataflow.library.outputs import FORMAT_AT
from jarvis_workers.dataflow.state.path import FlowRule

RULE = FlowRule("flow_format_string")
SURE = 0.9


@on_call(*FORMAT_AT)
def _prints(call: LibraryCall) -> None:
    place = FORMAT_AT[call.name]
    call.prove("harmless_format", holds=call.is_own_text(place))
    step = taint_of(call.path, call.value(place))
    if step is not None:
        call.report(RULE, "uses untrusted input as its format string", since=step, sure=SURE)
