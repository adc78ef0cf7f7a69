"""Arithmetic on values; report overflow of untrusted numbers and division by zero."""

from jarvis_workers.dataflow.expressions.evaluate import evaluate, evaluates
from jarvis_workers.dataflow.expressions.macro_expansion import MACROS_DEEP
from jarvis_workers.dataflow.ir.expr import (
    ArrowExpr,
    AssignExpr,
    BinaryExpr,
    CastExpr,
    DerefExpr,
    Expression,
    FloatExpr,
    IndexExpr,
    MemberExpr,
    NameExpr,
    NumberExpr,
    SizeofExpr,
)
from jarvis_workers.dataflow.memory.outside import joined
from jarvis_workers.dataflow.memory.pointers import escape
from jarvis_workers.dataflow.queries.ast_queries import terms_of, variables_in, without_casts
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.context import facts_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import arithmetic, in_units, is_exact, plus, times
from jarvis_workers.dataflow.state.reports import report
from jarvis_workers.dataflow.state.sizes import INT_MAX, NUMBERS_WITH_FRACTIONS, UINT_MAX, limits_of
from jarvis_workers.dataflow.state.types import element_size, type_of
from jarvis_workers.dataflow.state.values import ANY, NOT_NULL, UNKNOWN, Range, Value, number

COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!="))
ZERO, MAYBE_ZERO = 0.85, 0.75
UNDERFLOW, OVERFLOW, UNSIGNED, NEEDS_MORE, WRAPS, SUM, NO_PROGRESS = 0.72, 0.75, 0.55, 0.6, 0.45, 0.72, 0.66
# Operators whose result is smaller than the left operand.
PARTS = frozenset((">>", "/", "%"))
ARITHMETIC = frozenset(("+", "-", "*", "/"))
CONSTANTS = (NumberExpr, SizeofExpr)
SMALLER, LARGER = frozenset(("<", "<=")), frozenset((">", ">="))


@evaluates(BinaryExpr)
def _binary(path: PathState, e: BinaryExpr) -> Value:
    left = evaluate(path, e.left)
    return computed(path, e, left, evaluate(path, e.right))


def computed(path: PathState, e: BinaryExpr, left: Value, right: Value) -> Value:
    """Return the value of `left operator right`; `e` is its expression."""
    operator = e.op
    if left.target and operator in "+-" and not right.target:
        width = element_size(path, e.left, path.object_of(left))
        moved = times(right.range, width if operator == "+" else -width)
        return left.moved(plus(left.at, moved), None)
    if right.target and operator == "+":
        width = element_size(path, e.right, path.object_of(right))
        return right.moved(plus(right.at, times(left.range, width)), right.taint)
    if operator == "-" and left.target and left.target == right.target:
        return _distance(path, e, left, right)
    if operator in COMPARISONS:
        return number(0, 1)
    if operator != "-":
        escape(path, left)
        escape(path, right)
    if operator in ("/", "%"):
        _check_divisor(path, e.left, e.right, right)
    return _result(path, e, left, right)


def _distance(path: PathState, e: BinaryExpr, left: Value, right: Value) -> Value:
    """Return the number of elements between two pointers into the same object."""
    reach = arithmetic("-", left.at, right.at)
    width = element_size(path, e.left, path.object_of(left))
    low, _ = reach
    return number(low // width) if low is not None and is_exact(reach) and low % width == 0 else ANY


def _result(path: PathState, e: BinaryExpr, left: Value, right: Value) -> Value:
    operator = e.op
    reach = arithmetic(operator, left.range, right.range)
    if operator in ("+", "-", "*") and not path.machine.mode.quiet and _leaves_type(path, e, left, right):
        reach = UNKNOWN
    checked = operator == "%" or (
        (left.checked or right.checked or in_units(left.range) or in_units(right.range))
        and (left.checked or left.taint is None)
        and (right.checked or right.taint is None)
    )
    return Value(reach, taint=joined(path, e, left, right), checked=checked)


def _check_divisor(path: PathState, dividend: Expression, e: Expression, divisor: Value) -> None:
    if path.machine.mode.quiet or divisor.target or type_of(path, dividend) in NUMBERS_WITH_FRACTIONS:
        return
    low, high = divisor.range
    line = path.machine.execution.line
    if low == high == 0:
        text = f"{text_of(e)} is 0 here and is used as a divisor"
        report(path, "flow_divide_by_zero", line, text, since=divisor.why, sure=ZERO)
    elif divisor.taint and not divisor.checked and divisor.null != NOT_NULL and (low or 0) <= 0 <= (high or 0):
        text = f"{text_of(e)} is untrusted input, may be 0 and is used as a divisor"
        report(path, "flow_divide_by_zero", line, text, since=divisor.taint, sure=MAYBE_ZERO)


def _leaves_type(path: PathState, e: BinaryExpr, left: Value, right: Value) -> bool:
    """Report an overflow of untrusted numbers or of constants in a sum, difference or product."""
    outside = [one for one in (left, right) if one.taint]
    if not outside and not _are_constants(e, left, right):
        return False
    if any(one.checked or (one.taint and one.taint.doubt) for one in outside):
        return False
    first = type_of(path, e.left)
    kind = first or type_of(path, e.right)
    bounds = limits_of(path.machine.plain(kind)) if kind else None
    if bounds is None or _has_fraction(path, e) or (bounds[1] < INT_MAX and (first is None or not bounds[0])):
        # A narrow type is promoted to int: the results of an unsigned one fit, and another operand is of unknown type.
        return False
    if bounds[1] < INT_MAX and isinstance(without_casts(e.left), (DerefExpr, IndexExpr)):
        # A character of a text becomes a digit.
        return False
    terms = _within(path, e.left, left, bounds), _within(path, e.right, right, bounds)
    reach = arithmetic(e.op, *terms)
    over = reach[1] is not None and reach[1] > bounds[1]
    under = reach[0] is not None and reach[0] < bounds[0]
    signed = bounds[0] < 0
    if not (over or under) or not (signed or outside):
        return False
    since = outside[0].taint if outside else None
    text = f"{text_of(e)} can {'exceed the maximum' if over else 'fall below the minimum'} of {kind}"
    if e.op == "-" and not over:
        pattern, sure = "flow_integer_underflow", UNDERFLOW
    else:
        pattern, sure = "flow_integer_overflow", OVERFLOW
    sure = sure if signed else UNSIGNED
    if e.op != "*" and _needs_more(left, right, terms, bounds):
        sure = min(sure, NEEDS_MORE)
    report(path, pattern, path.machine.execution.line, text, since=since, sure=sure)
    return True


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


def check_difference(path: PathState, e: Expression) -> None:
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
        report(
            path,
            "flow_integer_underflow",
            path.machine.execution.line,
            text,
            since=since,
            sure=UNDERFLOW if since else WRAPS,
        )


def _is_open(path: PathState, name: str, value: Value) -> bool:
    """Return whether nothing is known about a number, or only on a path on which no call has set it."""
    if value.range == UNKNOWN:
        return True
    facts = facts_of(path.frame.function)
    return (
        name in facts.set_by_calls
        and facts.limits.get(name, path.machine.execution.line) >= path.machine.execution.line
    )


def check_sum(path: PathState, comparison: BinaryExpr, e: Expression) -> None:
    """Report a sum in a comparison that an outside number makes wrap around: the comparison then bounds nothing.

    `e` is a side of the comparison. What the function itself adds up is limited by the comparison of the iteration
    before.
    """
    terms = list(terms_of(without_casts(e)))
    if len(terms) == 1:
        return
    kinds = [type_of(path, term) for term in terms if not isinstance(term, NumberExpr)]
    limits = [limits_of(path.machine.plain(kind)) if kind else None for kind in kinds]
    if any(bounds is None or bounds[1] > UINT_MAX for bounds in limits):
        # A sum of 64 bits has room for numbers of 32 bits.
        return
    added_up = facts_of(path.frame.function).added_up
    for term in terms:
        if isinstance(term, NameExpr) and term.name in added_up:
            continue
        value = evaluate(path.copy(), term)
        high = value.range[1]
        if value.taint is not None and not value.checked and (high is None or high >= INT_MAX):
            if _expects_wrap(path, comparison, e, terms):
                return
            text = f"{text_of(e)} wraps around for a large {text_of(term)}, and the comparison then limits nothing"
            report(path, "flow_integer_overflow", path.machine.execution.line, text, since=value.taint, sure=SUM)
            return


def _expects_wrap(path: PathState, comparison: BinaryExpr, e: Expression, terms: list[Expression]) -> bool:
    """Return whether the function tests a sum for a wrap, or rejects small sums and with them those that wrapped."""
    facts = facts_of(path.frame.function)
    below = SMALLER if e is comparison.left else LARGER
    is_rejected = comparison.op in below and id(comparison) in facts.rejections
    return is_rejected or frozenset(terms) in facts.wrap_checks


def check_remaining(path: PathState, e: AssignExpr, old: Value, by: Value) -> None:
    """Report that a number of remaining bytes is reduced by outside data that was not compared with it."""
    if by.taint is None or not by.taint.doubt or by.checked or old.checked or old.target or old.taint:
        return
    remaining = e.target
    is_parameter = isinstance(remaining, NameExpr) and any(
        one.name == remaining.name for one in path.frame.function.params
    )
    if is_parameter or isinstance(remaining, (ArrowExpr, MemberExpr)):
        text = f"{text_of(e.value)} is outside data, and may be larger than {text_of(remaining)}"
        report(path, "flow_integer_underflow", path.machine.execution.line, text, since=by.taint, sure=UNDERFLOW)


def check_progress(path: PathState, e: AssignExpr, by: Value, readers: frozenset[str]) -> None:
    """Report a step of a loop by an outside number that may be 0 and that it reads at its cursor."""
    low = by.range[0]
    if by.taint is None or by.null == NOT_NULL or by.target or low is None or low > 0:
        return
    if not readers & variables_in((by.taint.about,)):
        return
    text = f"{text_of(e.value)} may be 0, and then the loop does not proceed"
    report(path, "flow_endless_loop", path.machine.execution.line, text, since=by.taint, sure=NO_PROGRESS)


def _are_constants(e: BinaryExpr, left: Value, right: Value) -> bool:
    is_literal = isinstance(e.left, (NumberExpr, SizeofExpr))
    return not is_literal and is_exact(left.range) and is_exact(right.range) and not left.checked


def _has_fraction(path: PathState, e: Expression, deep: int = MACROS_DEEP) -> bool:
    """Return whether an operand is a number with a fraction, also by a constant or macro in a part of it."""
    if isinstance(e, BinaryExpr):
        return e.op in ARITHMETIC and any(_has_fraction(path, part, deep) for part in (e.left, e.right))
    if isinstance(e, NameExpr) and e.name not in path.frame.types:
        macro = path.machine.macro(e.name)
        if deep > 0 and isinstance(macro, (FloatExpr, BinaryExpr, CastExpr)):
            return _has_fraction(path, macro, deep - 1)
    return isinstance(e, FloatExpr) or type_of(path, e) in NUMBERS_WITH_FRACTIONS


def _within(path: PathState, e: Expression, value: Value, bounds: tuple[int, int]) -> Range:
    """Return the range of an operand, which its type limits; that of a part of a number, the type of the number."""
    low, high = value.range
    least, most = bounds
    e = without_casts(e)
    if None in value.range and isinstance(e, BinaryExpr) and e.op in PARTS:
        least, most = _limits_of_part(path, e) or bounds
    return (least if low is None else low), (most if high is None else high)


def _limits_of_part(path: PathState, e: BinaryExpr) -> tuple[int, int] | None:
    kind = type_of(path, without_casts(e.left))
    bounds = limits_of(path.machine.plain(kind)) if kind else None
    by = evaluate(path, e.right).range[0] if isinstance(e.right, CONSTANTS) else None
    if bounds is None or not by or by < 0:
        return None
    if e.op == ">>":
        return bounds[0] >> by, bounds[1] >> by
    low, high = arithmetic(e.op, bounds, (by, by))
    return (low, high) if low is not None and high is not None else None
