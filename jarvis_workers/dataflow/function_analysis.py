"""Symbolic execution of one function, from its entry, with unknown arguments."""

# These modules register their evaluators.
from jarvis_workers.dataflow import calls, loops, statements, variables  # noqa: F401
from jarvis_workers.dataflow.assignments import declare
from jarvis_workers.dataflow.context import AnalysisContext
from jarvis_workers.dataflow.counted_buffers import counted_buffers
from jarvis_workers.dataflow.dangling import dangling
from jarvis_workers.dataflow.evaluate import StepLimitReached
from jarvis_workers.dataflow.interpreter import follow_body
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
from jarvis_workers.dataflow.outside import BYTE
from jarvis_workers.dataflow.ownership import MAINS, leaks
from jarvis_workers.dataflow.path import Frame, PathState
from jarvis_workers.dataflow.sizes import limits_of
from jarvis_workers.dataflow.values import ANY, NOT_NULL, Value

TOO_DEEP = "it is nested too deeply"


def follow(machine: AnalysisContext, function: LoweredFunction) -> str | None:
    """Analyze a function; return why its analysis ended early. Its findings are recorded in the context."""
    machine.begin()
    path = PathState(machine, Frame(function, 1))
    machine.frames = 1
    buffers = counted_buffers(function, machine.plain)
    machine.counted = {f"o:{name}": buffer for name, buffer in buffers.items()}
    bytes_of = {one.name for one in function.params if one.type.endswith("*") and _is_byte(machine, one.type[:-1])}
    machine.overlaid = frozenset(f"o:{name}" for name in bytes_of.union(buffers))
    for place, (name, kind, *_) in enumerate(function.params):
        declare(path, name, kind)
        is_argv = function.name in MAINS and place == 1
        value = Value(target=f"o:{name}", null=NOT_NULL, kind="argv") if is_argv else ANY
        if f"o:{name}" in machine.overlaid:
            value = Value(target=f"o:{name}")
        path.cells[path.frame.key(name), ""] = value
        if kind.endswith("&"):
            path.frame.references.add(name)
            path.cells[path.frame.key(name), "&"] = Value(target=f"o:{name}", code="")
    try:
        finished = follow_body(path)
    except (StepLimitReached, RecursionError) as end:
        machine.doubt_proofs(function.line, function.end)
        return TOO_DEEP if isinstance(end, RecursionError) else str(end)
    if machine.pruned:
        machine.doubt_proofs(function.line, function.end)
    dangling(finished)
    # What is not read may release what is left.
    for one in finished if not function.partial else ():
        leaks(one, function.end)
    return None


def _is_byte(machine: AnalysisContext, kind: str) -> bool:
    return limits_of(machine.plain(kind)) == BYTE
