"""flow_divide_by_zero: a divisor is 0 on the path, or comes from outside and may be 0."""

from jarvis_workers.dataflow.events import on_division
from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.path import DOUBTED, FlowRule, PathState
from jarvis_workers.dataflow.state.sizes import NUMBERS_WITH_FRACTIONS
from jarvis_workers.dataflow.state.types import type_of
from jarvis_workers.dataflow.state.values import NOT_NULL, Value

RULE = FlowRule("flow_divide_by_zero", DOUBTED)
ZERO, MAYBE_ZERO = 0.88, 0.75


@on_division
def _divided(path: PathState, dividend: Expression, e: Expression, divisor: Value) -> None:
    if path.machine.mode.quiet or divisor.target or type_of(path, dividend) in NUMBERS_WITH_FRACTIONS:
        return
    low, high = divisor.range
    line = path.machine.execution.line
    if low == high == 0:
        text = f"{text_of(e)} is 0 here and is used as a divisor"
        RULE.report(path, line, text, since=divisor.why, sure=ZERO)
    elif divisor.taint and not divisor.checked and divisor.null != NOT_NULL and (low or 0) <= 0 <= (high or 0):
        text = f"{text_of(e)} is untrusted input, may be 0 and is used as a divisor"
        RULE.report(path, line, text, since=divisor.taint, sure=MAYBE_ZERO)
