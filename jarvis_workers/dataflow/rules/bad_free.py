"""flow_bad_free: memory that no allocator returned is released or moved."""

from jarvis_workers.dataflow.events import Release, on_release
from jarvis_workers.dataflow.library.model import LibraryCall, on_reallocation
from jarvis_workers.dataflow.memory.ownership import ALLOCATED, WHERE, is_unallocated
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import FlowRule, PathState
from jarvis_workers.dataflow.state.values import UNKNOWN

RULE = FlowRule("flow_bad_free")
CERTAIN, NOT_FROM_MALLOC = 0.9, 0.88


@on_release
def _released(path: PathState, release: Release) -> None:
    target = release.target
    if release.family not in ALLOCATED:
        return
    if target is None:
        text = f"{text_of(release.e)} is the address of a variable and is released"
        RULE.report(path, release.line, text, sure=CERTAIN)
    elif is_unallocated(target):
        text = f"{text_of(release.e)} is {WHERE[target.kind]} and is released"
        RULE.report(path, release.line, text, since=target.made, sure=CERTAIN)


@on_reallocation
def _moved(call: LibraryCall) -> None:
    target = call.object(0)
    if target is not None and target.kind in ("stack", "static", "text") and target.size != UNKNOWN:
        text = f"{text_of(call.node.args[0])} was not allocated by malloc but is passed to {call.name}"
        RULE.report(call.path, call.line, text, since=target.made, sure=NOT_FROM_MALLOC)
