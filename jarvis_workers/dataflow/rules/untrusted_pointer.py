"""flow_untrusted_pointer: an address that comes from outside is dereferenced, and nothing has compared it."""

from jarvis_workers.dataflow.events import on_outside_dereference
from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import FlowRule, PathState
from jarvis_workers.dataflow.state.values import Value

RULE = FlowRule("flow_untrusted_pointer")
DEREFERENCED = 0.65


@on_outside_dereference
def _dereferenced(path: PathState, pointer: Expression, value: Value, line: int) -> None:
    if not value.checked and not path.machine.mode.addressing:
        text = f"{text_of(pointer)} is an address from outside and is dereferenced"
        RULE.report(path, line, text, since=value.taint, sure=DEREFERENCED)
