"""flow_stack_address: a function returns the address of its own stack memory."""

from jarvis_workers.dataflow.events import on_return
from jarvis_workers.dataflow.ir.stmt import ReturnStmt
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import FlowRule, PathState
from jarvis_workers.dataflow.state.values import UNKNOWN, Object

RULE = FlowRule("flow_stack_address")
STACK_RETURNED = 0.88


@on_return
def _returned(path: PathState, statement: ReturnStmt, target: Object) -> None:
    local = (path.returned.target or "").startswith(f"{path.frame.number}:")
    if target.kind == "stack" and local and target.size != UNKNOWN:
        text = f"{text_of(statement.value)} is stack memory of this function, invalid after it returns"
        RULE.report(path, statement.line, text, since=target.made, sure=STACK_RETURNED)
