"""flow_unchecked_null: a pointer that may be NULL, such as the result of an allocator, is used untested."""

from jarvis_workers.dataflow.events import on_unchecked_dereference
from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import FlowRule, PathState
from jarvis_workers.dataflow.state.values import Value

RULE = FlowRule("flow_unchecked_null", local=True)
UNTESTED = 0.88


@on_unchecked_dereference
def _dereferenced(path: PathState, pointer: Expression, value: Value, line: int) -> None:
    RULE.report(path, line, f"{text_of(pointer)} is used without a NULL check", since=value.why, sure=UNTESTED)
