"""Functions that print to streams and to strings."""

from jarvis_workers.dataflow.ir import STRINGS
from jarvis_workers.dataflow.library.model import Handlers, LibraryCall, set_text, taint_of
from jarvis_workers.dataflow.memory.pointers import used_after_free
from jarvis_workers.dataflow.queries.name_heuristics import listed
from jarvis_workers.dataflow.state.ranges import times
from jarvis_workers.dataflow.state.values import ANY, UNKNOWN, PathEvent, Value

# The position of the format argument.
FORMATS = {
    0: "printf wprintf vprintf vwprintf",
    1: "fprintf fwprintf vfprintf vfwprintf dprintf syslog vsyslog sprintf vsprintf asprintf vasprintf",
    2: "swprintf vswprintf snprintf vsnprintf _snprintf _snwprintf _vsnprintf _vsnwprintf",
}
FORMAT_AT = {name: place for place, names in FORMATS.items() for name in listed(names)}
INTO_STRING = frozenset(listed("sprintf swprintf snprintf _snprintf _snwprintf vsnprintf vsprintf"))
# The functions whose format comes third take a size; with a size of 0 they only return the length, and may get NULL.
SIZED = 2
SURE, PRINTED_AFTER_FREE = 0.9, 0.82
LENGTH_NEEDED, LENGTH_DOUBT = "{} returns the length that it needs, not the one that it writes", 0.3


def _printf(call: LibraryCall) -> Value:
    path, place = call.path, FORMAT_AT[call.name]
    step = taint_of(path, call.value(place))
    call.prove("harmless_format", holds=call.is_own_text(place))
    if step is not None:
        call.report("flow_format_string", "uses untrusted input as its format string", since=step, sure=SURE)
    if "fprintf" in call.name or call.name == "fwprintf":
        call.use(0)
    is_measured = call.value(1).range == (0, 0)
    if place == SIZED and not is_measured:
        call.takes_length(1)
        call.write(0, times(call.value(1).range, 4 if "w" in call.name else 1), certain=False)
    arguments = call.values[place + 1 :]
    for part, value in zip(call.node.args[place + 1 :], arguments, strict=False):
        other = path.object_of(value)
        if other is not None and other.freed is not None:
            used_after_free(path, part, value, call.line, sure=PRINTED_AFTER_FREE)
    if call.name in INTO_STRING:
        taints = (taint_of(path, value) for value in arguments)
        set_text(path, call.value(0), 1, UNKNOWN, next((one for one in taints if one is not None), None))
    if place == SIZED and not is_measured and _holds_text(call, place):
        needed = PathEvent(None, path.frame.file, call.line, LENGTH_NEEDED, call.node, LENGTH_DOUBT)
        return Value((0, None), taint=path.outside(needed))
    return ANY


def _holds_text(call: LibraryCall, place: int) -> bool:
    """Return whether a format prints strings, whose length is unknown."""
    part = call.node.args[place] if place < len(call.node.args) else None
    return isinstance(part, STRINGS) and "%s" in part.text


HANDLERS: Handlers = ((tuple(FORMAT_AT), _printf),)
