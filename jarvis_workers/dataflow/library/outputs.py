"""Functions that print to streams and to strings."""

import re

from jarvis_workers.dataflow.ir import STRINGS
from jarvis_workers.dataflow.library.model import Handlers, LibraryCall, change, set_text, taint_of
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
CONVERSION = re.compile(r"%[-+ #0']*(\*|\d+)?(?:\.(\*|\d+)?)?(?:hh?|ll?|[qjztL])?([A-Za-z%])")
LENGTH_NEEDED, LENGTH_DOUBT = "{} returns the length that it needs, not the one that it writes", 0.3


def _printf(call: LibraryCall) -> Value:
    path, place = call.path, FORMAT_AT[call.name]
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
            used_after_free(path, part, value, call.line, is_certain=False)
    if call.name in INTO_STRING:
        before, texts = call.object(0), _texts(call, place)
        taints = (taint_of(path, call.value(at)) for at in texts)
        set_text(path, call.value(0), 1, UNKNOWN, next((one for one in taints if one is not None), None))
        if place < len(call.node.args) and isinstance(call.node.args[place], STRINGS):
            is_own = before is None or before.own or call.value(0).at == (0, 0)
            change(path, call.value(0), own=is_own and all(call.is_own_text(at) for at in texts))
    if place == SIZED and not is_measured and _holds_text(call, place):
        needed = PathEvent(None, path.frame.file, call.line, LENGTH_NEEDED, call.node, LENGTH_DOUBT)
        return Value((0, None), taint=path.outside(needed))
    return ANY


def _texts(call: LibraryCall, place: int) -> list[int]:
    """Return the arguments that a format prints other than as numbers; all of them if the format is no literal."""
    part, last = call.node.args[place] if place < len(call.node.args) else None, len(call.values)
    if not isinstance(part, STRINGS):
        return [*range(place + 1, last)]
    kinds = [
        kind
        for width, precision, letter in CONVERSION.findall(part.text)
        for kind in (*[one for one in (width, precision) if one == "*"], letter)
        if kind != "%"
    ]
    return [at for at, kind in enumerate(kinds, place + 1) if kind in "sScC" and at < last]


def _holds_text(call: LibraryCall, place: int) -> bool:
    """Return whether a format prints strings, whose length is unknown."""
    part = call.node.args[place] if place < len(call.node.args) else None
    return isinstance(part, STRINGS) and "%s" in part.text


HANDLERS: Handlers = ((tuple(FORMAT_AT), _printf),)
