"""Whether a function never returns NULL: its body is executed once, for unknown arguments, if no call is followed."""

from jarvis_workers.dataflow.assignments import declare
from jarvis_workers.dataflow.context import AnalysisContext
from jarvis_workers.dataflow.definitions import Callee
from jarvis_workers.dataflow.evaluate import StepLimitReached
from jarvis_workers.dataflow.interpreter import follow_body
from jarvis_workers.dataflow.path import Frame, PathState
from jarvis_workers.dataflow.values import ANY, NOT_NULL

# The number of steps that such an execution may take.
STEPS_MAX = 80


def never_null(machine: AnalysisContext, callee: Callee) -> bool:
    """Return whether every path through a function returns a pointer that is not NULL."""
    function, _ = callee
    return machine.property_of("never NULL", function, lambda: _returns_only_pointers(machine, callee))


def _returns_only_pointers(machine: AnalysisContext, callee: Callee) -> bool:
    function, file = callee
    with machine.aside(STEPS_MAX):
        machine.frames += 1
        path = PathState(machine, Frame(function, machine.frames))
        path.frame.file = file
        for name, kind, *_ in function.params:
            declare(path, name, kind)
            path.cells[path.frame.key(name), ""] = ANY
        try:
            finished = follow_body(path)
        except (StepLimitReached, RecursionError):
            return False
        return bool(finished) and not machine.pruned and all(one.returned.null == NOT_NULL for one in finished)
