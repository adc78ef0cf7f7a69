"""Models of C and POSIX library functions: preconditions, effects and return values, one module per family."""

from jarvis_workers.dataflow.library import allocation, commands, copies, inputs, outputs, parsing, strings
from jarvis_workers.dataflow.library.allocation import never_fails, wrapped
from jarvis_workers.dataflow.library.inputs import receive
from jarvis_workers.dataflow.library.model import Handler, LibraryCall, perform
from jarvis_workers.dataflow.library.parsing import generated, number_reader

__all__ = [
    "LIBRARY",
    "Handler",
    "LibraryCall",
    "generated",
    "never_fails",
    "number_reader",
    "perform",
    "receive",
    "wrapped",
]

FAMILIES = (allocation, commands, copies, inputs, parsing, outputs, strings)
LIBRARY: dict[str, Handler] = {
    name: handler for family in FAMILIES for names, handler in family.HANDLERS for name in names
}
