"""flow_memory_leak and flow_handle_leak: what a path has allocated or opened, and still owns at its end."""

from collections.abc import Sequence

from jarvis_workers.dataflow.events import on_exit
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
from jarvis_workers.dataflow.memory.ownership import MAINS, OWNED
from jarvis_workers.dataflow.state.path import DOUBTED, SOMETIMES, FlowRule, PathState

MEMORY = FlowRule("flow_memory_leak", DOUBTED)
HANDLE = FlowRule("flow_handle_leak", DOUBTED, SOMETIMES)
LEAK = 0.8
# The end of the program releases what it has.
LEAK_AT_EXIT = 0.5
LENT = -0.15


@on_exit
def _leaks(paths: Sequence[PathState], function: LoweredFunction) -> None:
    if function.partial:
        # What is not read may release what is left.
        return
    for path in paths:
        _leaks_of(path, function.end)
    own = [(path, one, one.made) for path in paths for one in path.objects.values() if one.made and not one.made.file]
    released = {made.line for _, target, made in own if target.freed is not None}
    for path, target, made in own:
        if made.line in released:
            # A path releases it; those that do not are reported, or have nothing to release.
            is_reported = bool(target.family) or target.lost or target.freed is not None
            path.machine.prove("followed_leak", made.line, holds=is_reported)


def _leaks_of(path: PathState, line: int) -> None:
    sure = LEAK_AT_EXIT if path.frame.function.name in MAINS else LEAK
    for key, target in path.objects.items():
        made = target.made
        if target.lost or target.freed is not None or made is None or target.kind not in OWNED or not target.family:
            continue
        rule = MEMORY if target.kind == "heap" else HANDLE
        text = f"{target.name or 'the resource'} is not released on this path, which ends here"
        at = made.line if made.file is None else path.machine.made_at.get(key) or line
        rule.report(path, line, text, since=made, sure=sure + (LENT if target.lent else 0.0), at=at)
