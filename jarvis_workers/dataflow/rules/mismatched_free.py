"""flow_mismatched_free: memory is released by another family of functions than that which allocated it."""

from jarvis_workers.dataflow.events import Release, on_release
from jarvis_workers.dataflow.memory.ownership import ALLOCATED
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import FlowRule, PathState

RULE = FlowRule("flow_mismatched_free")
CERTAIN = 0.9
RELEASED_BY = {"malloc": "free", "new": "delete", "new[]": "delete[]"}


@on_release
def _released(path: PathState, release: Release) -> None:
    target = release.target
    if target is None or target.kind != "heap" or release.family not in ALLOCATED or target.family not in ALLOCATED:
        return
    if target.family != release.family:
        text = f"{text_of(release.e)} comes from {target.family} and must be released by {RELEASED_BY[target.family]}"
        RULE.report(path, release.line, text, since=target.made, sure=CERTAIN)
