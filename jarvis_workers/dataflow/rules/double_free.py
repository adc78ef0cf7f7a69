"""flow_double_free: memory that is released twice, or by realloc with a size of 0."""

from jarvis_workers.dataflow.events import Release, on_second_release
from jarvis_workers.dataflow.library.model import LibraryCall, on_reallocation
from jarvis_workers.dataflow.memory.ownership import follow_release
from jarvis_workers.dataflow.memory.pointers import doubt_of_element
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import DOUBTED, FlowRule, PathState
from jarvis_workers.dataflow.state.values import NOT_NULL

RULE = FlowRule("flow_double_free", DOUBTED)
CERTAIN, EMPTY = 0.9, 0.55


@on_second_release
def _released_again(path: PathState, again: Release) -> None:
    freed = again.target.freed if again.target is not None else None
    sure = CERTAIN - doubt_of_element(freed, again.e)
    RULE.report(path, again.line, f"{text_of(again.e)} is released twice", since=freed, sure=sure)
    follow_release(path, freed)


@on_reallocation
def _emptied(call: LibraryCall) -> None:
    old, size = call.value(0), call.value(1)
    if size.taint and not size.checked and size.null != NOT_NULL and (size.range[0] or 0) <= 0 and not old.null:
        text = "releases its memory if the untrusted size is 0, and returns NULL as for an error"
        call.report(RULE, text, since=size.taint, sure=EMPTY)
