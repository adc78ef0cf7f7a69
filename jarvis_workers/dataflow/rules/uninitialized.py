"""flow_uninitialized: a variable, field or memory is read before it is set."""

from jarvis_workers.dataflow.events import Access, on_unset_elements, on_unset_memory, on_unset_value
from jarvis_workers.dataflow.ir.expr import Expression, NameExpr
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import DOUBTED, RARELY, FlowRule, PathState
from jarvis_workers.dataflow.state.values import Object, Value

RULE = FlowRule("flow_uninitialized", DOUBTED, RARELY)
VARIABLE, FIELD, MEMORY, STRUCT = 0.85, 0.8, 0.78, 0.6


@on_unset_value
def _value(path: PathState, e: Expression, value: Value) -> None:
    sure = VARIABLE if isinstance(e, NameExpr) else FIELD
    text = f"{text_of(e)} is used before it is initialized"
    RULE.report(path, path.machine.execution.line, text, since=value.why, sure=sure)


@on_unset_memory
def _memory(path: PathState, e: Expression, target: Object, is_plain: bool) -> None:
    text = f"{text_of(e)} is used but was never initialized"
    sure = MEMORY if is_plain else STRUCT
    RULE.report(path, path.machine.execution.line, text, since=target.made, sure=sure)


@on_unset_elements
def _elements(path: PathState, access: Access, target: Object, end: int) -> None:
    text = f"{text_of(access.pointer)} is read up to byte {end} but initialized only up to byte {target.unset_from}"
    RULE.report(path, path.machine.execution.line, text, since=target.made, sure=MEMORY)
