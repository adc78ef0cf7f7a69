"""What functions of C's and POSIX's libraries ask, do and return: a file for each family."""

from jarvis_workers.sec.flow.library import allocation, commands, copies, inputs, numbers, outputs, strings
from jarvis_workers.sec.flow.library.allocation import never_fails, wrapped
from jarvis_workers.sec.flow.library.call import Call, Handler

__all__ = ["LIBRARY", "Call", "Handler", "never_fails", "wrapped"]

FAMILIES = (allocation, commands, copies, inputs, numbers, outputs, strings)
LIBRARY: dict[str, Handler] = {
    name: handler for family in FAMILIES for names, handler in family.HANDLERS for name in names
}
