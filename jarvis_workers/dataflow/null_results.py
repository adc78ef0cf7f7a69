"""Whether a function never returns NULL: its body is executed once, for unknown arguments, if no call is followed."""

from collections.abc import Sequence

from jarvis_workers.dataflow.assignments import declare
from jarvis_workers.dataflow.context import AnalysisContext
from jarvis_workers.dataflow.definitions import Callee
from jarvis_workers.dataflow.evaluate import StepLimitReached
from jarvis_workers.dataflow.interpreter import follow_body
from jarvis_workers.dataflow.path import Frame, PathState
from jarvis_workers.dataflow.ranges import is_exact
from jarvis_workers.dataflow.values import ANY, NOT_NULL, UNKNOWN, Range, Value

# The number of steps that such an execution may take.
STEPS_MAX = 80


def never_null(machine: AnalysisContext, callee: Callee, args: Sequence[Value]) -> bool:
    """Return whether every path through a function returns a pointer that is not NULL, given the constants passed."""
    function, _ = callee
    given = tuple([one.range if is_exact(one.range) and one.target is None else UNKNOWN for one in args])
    name = f"never NULL {given}" if any(one != UNKNOWN for one in given) else "never NULL"
    return machine.property_of(name, function, lambda: _returns_only_pointers(machine, callee, given))


def _returns_only_pointers(machine: AnalysisContext, callee: Callee, given: Sequence[Range]) -> bool:
    function, file = callee
    with machine.aside(STEPS_MAX):
        machine.frames += 1
        path = PathState(machine, Frame(function, machine.frames))
        path.frame.file = file
        for place, (name, kind, *_) in enumerate(function.params):
            declare(path, name, kind)
            path.cells[path.frame.key(name), ""] = Value(given[place]) if place < len(given) else ANY
        try:
            finished = follow_body(path)
        except (StepLimitReached, RecursionError):
            return False
        return bool(finished) and not machine.pruned and all(one.returned.null == NOT_NULL for one in finished)
