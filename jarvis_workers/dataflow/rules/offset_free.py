"""flow_offset_free: memory is released by a pointer that was moved away from its start."""

from jarvis_workers.dataflow.events import Release, on_release
from jarvis_workers.dataflow.memory.ownership import ALLOCATED
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import DOUBTED, FlowRule, PathState
from jarvis_workers.dataflow.state.values import UNKNOWN

RULE = FlowRule("flow_offset_free", DOUBTED)
MOVED, MOVED_SOMEHOW = 0.88, 0.8


@on_release
def _released(path: PathState, release: Release) -> None:
    target, (low, high) = release.target, release.value.at
    if target is None or target.kind != "heap" or release.family not in ALLOCATED or release.value.at == UNKNOWN:
        return
    if (low or 0) >= 0 and (low != 0 or high is None or high > 0):
        text = f"{text_of(release.e)} no longer points to the start of its memory and is released"
        RULE.report(path, release.line, text, since=target.made, sure=MOVED if low else MOVED_SOMEHOW)
