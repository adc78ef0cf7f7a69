"""flow_integer_overflow, _underflow: a number from outside, or a constant, makes a result leave its type.

Sides of comparisons count if their wrap makes the comparison meaningless; so does a number of remaining bytes that is
reduced by what was not compared with it.
"""

from jarvis_workers.dataflow.events import Overflow, on_comparison, on_overflow, on_step
from jarvis_workers.dataflow.expressions.evaluate import evaluate
from jarvis_workers.dataflow.ir.expr import (
    ArrowExpr,
    AssignExpr,
    BinaryExpr,
    Expression,
    MemberExpr,
    NameExpr,
)
from jarvis_workers.dataflow.queries.ast_queries import without_casts
from jarvis_workers.dataflow.queries.condition_queries import operations_in, terms_of
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.context import facts_of
from jarvis_workers.dataflow.state.path import DOUBTED, FlowRule, PathState
from jarvis_workers.dataflow.state.ranges import arithmetic, is_exact
from jarvis_workers.dataflow.state.sizes import INT_MAX, UINT_MAX, limits_of
from jarvis_workers.dataflow.state.types import number_limits, possible, type_of
from jarvis_workers.dataflow.state.values import UNKNOWN, Range, Value

OVERFLOW = FlowRule("flow_integer_overflow", DOUBTED)
UNDERFLOW = FlowRule("flow_integer_underflow")
UNDERFLOW_SURE, OVERFLOW_SURE, UNSIGNED, NEEDS_MORE, WRAPS, SUM = 0.72, 0.75, 0.55, 0.6, 0.45, 0.72
OF_CONSTANTS = 0.88
SMALLER, LARGER = frozenset(("<", "<=")), frozenset((">", ">="))


@on_overflow
def _left_type(path: PathState, wrap: Overflow) -> None:
    e, over = wrap.e, wrap.over
    since = next((one.taint for one in wrap.operands if one.taint), None)
    text = f"{text_of(e)} can {'exceed the maximum' if over else 'fall below the minimum'} of {wrap.kind}"
    rule, sure = (UNDERFLOW, UNDERFLOW_SURE) if e.op == "-" and not over else (OVERFLOW, OVERFLOW_SURE)
    if wrap.bounds[0] >= 0:
        sure = UNSIGNED
    elif since is None:
        sure = OF_CONSTANTS
    if e.op != "*" and _needs_more(*wrap.operands, wrap.ranges, wrap.bounds):
        sure = min(sure, NEEDS_MORE)
    rule.report(path, path.machine.execution.line, text, since=since, sure=sure)


def _needs_more(left: Value, right: Value, terms: tuple[Range, Range], bounds: tuple[int, int]) -> bool:
    """Return whether no outside number suffices for an overflow.

    Either it needs another operand near the end of its type, of which nothing is known, or many iterations of a loop
    that adds numbers of a limited size up.
    """
    pairs = list(zip((left, right), terms, strict=True))
    unlimited = [one for one, (low, high) in pairs if one.taint and (low == bounds[0] or high == bounds[1])]
    if not unlimited:
        return any(one.taint is None and None in one.range for one in (left, right))
    return unlimited == [left] and right.taint is not None and _source(left) == _source(right)


def _source(value: Value) -> tuple[object, ...]:
    taint = value.taint
    return (taint.file, taint.line, taint.note, taint.about) if taint is not None else ()


@on_comparison
def _compared(path: PathState, comparison: BinaryExpr, side: Expression, value: Value) -> None:
    _check_difference(path, side)
    if value.taint is not None:
        _check_growth(path, comparison, side)


def _check_difference(path: PathState, e: Expression) -> None:
    """Report a difference from a constant in a comparison: if it wraps around, the comparison means nothing."""
    e = without_casts(e)
    if not isinstance(e, BinaryExpr) or e.op != "-" or not isinstance(e.right, NameExpr):
        return
    kind = type_of(path, e.right)
    bounds = limits_of(path.machine.plain(kind)) if kind else None
    if bounds is None or bounds[0] < 0 or bounds[1] < INT_MAX or not is_exact(evaluate(path, e.left).range):
        return
    value = evaluate(path, e.right)
    if _is_open(path, e.right.name, value) and not (value.checked or value.target or value.unset or value.kind):
        text = f"{text_of(e)} wraps around if {text_of(e.right)} is larger, and the comparison then holds wrongly"
        since = value.taint
        UNDERFLOW.report(path, path.machine.execution.line, text, since=since, sure=UNDERFLOW_SURE if since else WRAPS)


def _is_open(path: PathState, name: str, value: Value) -> bool:
    """Return whether nothing is known about a number, or only on a path on which no call has set it."""
    if value.range == UNKNOWN:
        return True
    facts = facts_of(path.frame.function)
    return (
        name in facts.set_by_calls
        and facts.limits.get(name, path.machine.execution.line) >= path.machine.execution.line
    )


def _check_growth(path: PathState, comparison: BinaryExpr, side: Expression) -> None:
    """Report a sum, product or shift in a comparison that an outside number makes wrap: it then bounds nothing."""
    for e in operations_in(side):
        limits = number_limits(path, e) if e.op != "-" else None
        if limits is None or limits[1] > UINT_MAX:
            # A result of 64 bits has room for numbers of 32 bits.
            continue
        terms = list(terms_of(e)) if e.op == "+" else [e.left, e.right]
        for term in terms:
            value = _unlimited(path, e, term, limits[1])
            if value is None:
                continue
            if not _expects_wrap(path, comparison, side, terms):
                text = f"{text_of(e)} wraps around for a large {text_of(term)}, and the comparison then limits nothing"
                OVERFLOW.report(path, path.machine.execution.line, text, since=value.taint, sure=SUM)
            return


def _unlimited(path: PathState, e: BinaryExpr, term: Expression, most: int) -> Value | None:
    """Return the value of a term or factor that comes from outside and makes a result exceed `most`; None otherwise.

    What the function itself adds up is limited by the comparison of the iteration before.
    """
    if isinstance(term, NameExpr) and term.name in facts_of(path.frame.function).added_up:
        return None
    value = evaluate(path.copy(), term)
    if value.taint is None or value.checked:
        return None
    high = possible(path, term, value)[1]
    by = evaluate(path.copy(), e.right if term is e.left else e.left).range if e.op != "+" else UNKNOWN
    if e.op == "<<" and term is e.right:
        return None
    if is_exact(by):
        reach = arithmetic(e.op, (most if high is None else min(high, most),) * 2, by)[1]
        return value if reach is not None and reach > most else None
    return value if high is None or high >= INT_MAX else None


def _expects_wrap(path: PathState, comparison: BinaryExpr, e: Expression, terms: list[Expression]) -> bool:
    """Return whether the function tests a sum for a wrap, or rejects small sums and with them those that wrapped."""
    facts = facts_of(path.frame.function)
    below = SMALLER if e is comparison.left else LARGER
    is_rejected = comparison.op in below and id(comparison) in facts.rejections
    return is_rejected or frozenset(terms) in facts.wrap_checks


@on_step
def _reduced(path: PathState, e: AssignExpr, old: Value, by: Value) -> None:
    """Report that a number of remaining bytes is reduced by outside data that was not compared with it."""
    if e.op != "-" or by.taint is None or not by.taint.doubt or by.checked or old.checked or old.target or old.taint:
        return
    remaining = e.target
    is_parameter = isinstance(remaining, NameExpr) and any(
        one.name == remaining.name for one in path.frame.function.params
    )
    if is_parameter or isinstance(remaining, (ArrowExpr, MemberExpr)):
        text = f"{text_of(e.value)} is outside data, and may be larger than {text_of(remaining)}"
        UNDERFLOW.report(path, path.machine.execution.line, text, since=by.taint, sure=UNDERFLOW_SURE)
