"""Functions that return numbers, and functions without relevant effects."""

from math import isqrt

from jarvis_workers.dataflow.library.model import Handlers, LibraryCall
from jarvis_workers.dataflow.values import ANY, Value, number

NEVER_NEGATIVE = ("rand", "random", "lrand48", "rand_r", "arc4random")


def _random(call: LibraryCall) -> Value:
    low = 0 if call.name in NEVER_NEGATIVE else None
    return Value((low, None), taint=call.path.note(call.line, f"{call.name}() returns an arbitrary number"))


def _sqrt(call: LibraryCall) -> Value:
    low, high = call.value(0).range
    if low is None or high is None or low < 0:
        return Value(checked=True)
    return number(isqrt(low), isqrt(high))


def _abs(call: LibraryCall) -> Value:
    value = call.value(0)
    return Value((0, None), taint=value.taint, checked=value.checked)


def _nothing(call: LibraryCall) -> Value:
    return ANY


HANDLERS: Handlers = (
    (["rand", "random", "lrand48", "rand_r", "arc4random", "RAND32", "RAND64"], _random),
    (["sqrt", "sqrtl", "sqrtf"], _sqrt),
    (["abs", "labs", "llabs"], _abs),
    (["va_start", "va_end", "va_copy", "memory_order", "sizeof", "srand", "time"], _nothing),
)
