"""Whether a function never returns NULL, or does at times: its body is executed apart from any path to it."""

from collections.abc import Callable, Sequence

from jarvis_workers.dataflow.execution.interpreter import follow_body
from jarvis_workers.dataflow.expressions.assignments import declare
from jarvis_workers.dataflow.expressions.evaluate import StepLimitReached
from jarvis_workers.dataflow.state.context import AnalysisContext
from jarvis_workers.dataflow.state.definitions import Callee
from jarvis_workers.dataflow.state.path import Frame, PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.values import ANY, NOT_NULL, UNKNOWN, Range, Value

# The number of steps that such an execution may take.
STEPS_MAX = 80


def never_null(machine: AnalysisContext, callee: Callee, args: Sequence[Value]) -> bool:
    """Return whether every path through a function returns a pointer that is not NULL, given the constants passed."""
    return _holds(machine, "never NULL", callee, args, _are_pointers)


def may_be_null(machine: AnalysisContext, callee: Callee, args: Sequence[Value]) -> bool:
    """Return whether a path through a function is known to return NULL, or what an allocator returns, untested."""
    return _holds(machine, "may be NULL", callee, args, _are_null_at_times)


def _holds(
    machine: AnalysisContext, what: str, callee: Callee, args: Sequence[Value], test: Callable[[list[Value]], bool]
) -> bool:
    function, _ = callee
    given = tuple([one.range if is_exact(one.range) and one.target is None else UNKNOWN for one in args])
    name = f"{what} {given}" if any(one != UNKNOWN for one in given) else what
    return machine.property_of(name, function, lambda: test(_results(machine, callee, given)))


def _are_pointers(results: list[Value]) -> bool:
    return bool(results) and all(one.null == NOT_NULL for one in results)


def _are_null_at_times(results: list[Value]) -> bool:
    return any(one.null > NOT_NULL for one in results)


def _results(machine: AnalysisContext, callee: Callee, given: Sequence[Range]) -> list[Value]:
    """Return what the paths through a function return; an unknown value if not all of them were executed."""
    function, file = callee
    with machine.aside(STEPS_MAX):
        machine.frames += 1
        path = PathState(machine, Frame(function, machine.frames))
        path.frame.file = file
        for place, (name, kind, *_) in enumerate(function.params):
            declare(path, name, kind)
            path.cells[path.frame.key(name), ""] = Value(given[place]) if place < len(given) else ANY
        try:
            results = [one.returned for one in follow_body(path)]
        except (StepLimitReached, RecursionError):
            return [ANY]
        return [*results, ANY] if machine.execution.pruned else results
