"""flow_null_dereference: a pointer is dereferenced that is NULL on the path."""

from jarvis_workers.dataflow.events import on_null_dereference
from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.memory.pointers import RETURNS_NULL
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import DOUBTED, RARELY, FlowRule, PathState
from jarvis_workers.dataflow.state.values import Value

RULE = FlowRule("flow_null_dereference", DOUBTED, RARELY)
NULL_ARGUMENT, NULL_USED, TESTED_HERE, TESTED_IN_CALLER, RETURNED_NULL = 0.76, 0.9, 0.72, 0.6, 0.6


@on_null_dereference
def _dereferenced(path: PathState, pointer: Expression, value: Value, line: int) -> None:
    text = f"{text_of(pointer)} is NULL here and is dereferenced"
    RULE.report(path, line, text, since=value.why, sure=_sure_of(path, value))


def _sure_of(path: PathState, value: Value) -> float:
    """Return the confidence; it is lower if only a test of the pointer implies NULL."""
    why = value.why
    if why is None and path.frame.depth:
        return NULL_ARGUMENT
    if why is not None and why.note == RETURNS_NULL:
        return RETURNED_NULL
    if why is None or why.about is None or not why.note.endswith(("true", "false")):
        return NULL_USED
    return TESTED_HERE if why.file == path.frame.file else TESTED_IN_CALLER
