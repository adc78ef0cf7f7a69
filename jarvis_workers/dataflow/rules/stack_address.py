"""flow_stack_address: the address of a local variable is returned, left behind, or used after its block."""

from collections.abc import Sequence

from jarvis_workers.dataflow.events import on_exit, on_local_returned, on_use_after_free
from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
from jarvis_workers.dataflow.memory.ownership import MAINS
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import FlowRule, PathState
from jarvis_workers.dataflow.state.values import OUT_OF_SCOPE, UNKNOWN, Value

RULE = FlowRule("flow_stack_address")
STACK_RETURNED, SCOPE_LEFT, STATIC_KEEPS, CALLER_KEEPS = 0.88, 0.8, 0.58, 0.52


@on_local_returned
def _returned(path: PathState, e: Expression, value: Value, line: int) -> None:
    target = path.object_of(value)
    if target is None or (target.kind == "stack" and target.size != UNKNOWN):
        text = f"{text_of(e)} is stack memory of this function, invalid after it returns"
        RULE.report(path, line, text, since=target.made if target is not None else None, sure=STACK_RETURNED)


@on_use_after_free
def _out_of_scope(path: PathState, pointer: Expression, value: Value, line: int, _is_certain: bool) -> None:
    freed = path.objects[value.target or ""].freed
    if freed is not None and freed.note == OUT_OF_SCOPE:
        text = f"{text_of(pointer)} points to a variable whose block has ended"
        RULE.report(path, line, text, since=freed, sure=SCOPE_LEFT)


@on_exit
def _left_behind(finished: Sequence[PathState], function: LoweredFunction) -> None:
    """Report the addresses of local variables that are still where a function has stored them."""
    for path in finished if function.name not in MAINS else ():
        for (place, key), event in path.machine.execution.handed_out.items():
            around = path.objects.get(place[0])
            is_owned = around is not None and (around.freed is not None or (around.kind == "heap" and not around.lost))
            if path.cells.get(place, Value()).target == key and not is_owned and event.about is not None:
                text = f"{text_of(event.about)} still points to stack memory when the function ends"
                sure = STATIC_KEEPS if place[0].startswith("g:") else CALLER_KEEPS
                RULE.report(path, event.line, text, since=event, sure=sure)
