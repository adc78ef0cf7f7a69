"""flow_null_dereference: a pointer is dereferenced that is NULL on the path."""

from collections.abc import Sequence

from jarvis_workers.dataflow.events import on_exit, on_null_dereference
from jarvis_workers.dataflow.ir.expr import CallExpr, Expression
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
from jarvis_workers.dataflow.library import LIBRARY
from jarvis_workers.dataflow.memory.pointers import RETURNS_NULL
from jarvis_workers.dataflow.queries.late_tests import late_tests
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.rules.unchecked_null import RULE as UNCHECKED
from jarvis_workers.dataflow.state.context import facts_of
from jarvis_workers.dataflow.state.path import DOUBTED, RARELY, FlowRule, PathState
from jarvis_workers.dataflow.state.values import PathEvent, Value

RULE = FlowRule("flow_null_dereference", DOUBTED, RARELY)
NULL_ARGUMENT, NULL_USED, TESTED_HERE, TESTED_IN_CALLER, RETURNED_NULL, TESTED_LATER = 0.76, 0.9, 0.72, 0.6, 0.6, 0.55


@on_null_dereference
def _dereferenced(path: PathState, pointer: Expression, value: Value, line: int) -> None:
    if isinstance(pointer, CallExpr) and text_of(pointer) in facts_of(path.frame.function).tested_calls:
        # The function tests the result of an equal call.
        return
    text = f"{text_of(pointer)} is NULL here and is dereferenced"
    RULE.report(path, line, text, since=value.why, sure=_sure_of(path, value))


def _sure_of(path: PathState, value: Value) -> float:
    """Return the confidence; it is lower if only a test of the pointer implies NULL."""
    why = value.why
    if why is None and path.frame.depth:
        return NULL_ARGUMENT
    if why is not None and why.note == RETURNS_NULL:
        return RETURNED_NULL if path.doubt else NULL_USED
    if why is None or why.about is None or not why.note.endswith(("true", "false")):
        return NULL_USED
    return TESTED_HERE if why.file == path.frame.file else TESTED_IN_CALLER


@on_exit
def _tested_later(paths: Sequence[PathState], function: LoweredFunction) -> None:
    """Report pointers that the function dereferences first, and tests for NULL behind that."""
    if not paths:
        return
    machine = paths[0].machine
    for use in late_tests(function, lambda name: name not in LIBRARY and machine.function(name) is None):
        if (UNCHECKED.id, use.line) in machine.findings:
            continue
        since = PathEvent(None, None, use.tested, "{} is compared with NULL", use.pointer)
        text = f"{text_of(use.pointer)} is dereferenced before line {use.tested} tests it for NULL"
        RULE.report_in(machine, function, use.line, text, since=since, sure=TESTED_LATER)
