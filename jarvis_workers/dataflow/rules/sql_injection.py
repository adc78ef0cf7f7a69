"""flow_sql_injection: an SQL statement contains text from outside."""

from jarvis_workers.dataflow.library.commands import SQL
from jarvis_workers.dataflow.library.model import LibraryCall, on_call, taint_of
from jarvis_workers.dataflow.queries.name_heuristics import listed
from jarvis_workers.dataflow.state.path import FlowRule

RULE = FlowRule("flow_sql_injection")
STATEMENT = 0.85


@on_call(*listed(SQL))
def _runs_statement(call: LibraryCall) -> None:
    step = taint_of(call.path, call.value(1))
    if step is not None:
        call.report(RULE, "runs an SQL statement that contains untrusted input", since=step, sure=STATEMENT)
