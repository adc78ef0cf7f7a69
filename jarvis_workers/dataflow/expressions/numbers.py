"""Arithmetic on values."""

from jarvis_workers.dataflow.events import Overflow, on_division, on_overflow
from jarvis_workers.dataflow.expressions.evaluate import evaluate, evaluates
from jarvis_workers.dataflow.expressions.macro_expansion import MACROS_DEEP
from jarvis_workers.dataflow.expressions.value_numbering import recalled
from jarvis_workers.dataflow.ir.expr import (
    BinaryExpr,
    CastExpr,
    DerefExpr,
    Expression,
    FloatExpr,
    IndexExpr,
    NameExpr,
    NumberExpr,
    SizeofExpr,
)
from jarvis_workers.dataflow.memory.outside import joined
from jarvis_workers.dataflow.memory.pointers import escape
from jarvis_workers.dataflow.queries.ast_queries import without_casts
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import arithmetic, in_units, is_exact, plus, times
from jarvis_workers.dataflow.state.sizes import INT_MAX, LIMITS, NUMBERS_WITH_FRACTIONS, TYPE_ENDS, limits_of
from jarvis_workers.dataflow.state.types import COMPARISONS, element_size, number_limits, possible, type_of
from jarvis_workers.dataflow.state.values import ANY, UNKNOWN, Range, Value, number

ARITHMETIC = frozenset(("+", "-", "*", "/"))
USUAL = ("signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long", "unsigned long")
NAMES = {bounds: kind for kind, bounds in LIMITS.items()} | {LIMITS[kind]: kind for kind in USUAL}
TAGGING = frozenset(("|", "&", "^"))
# Bits of a pointer that alignment leaves unused, up to that of a page.
TAGS_MAX = 4095
BYTE_BITS = 8


@evaluates(BinaryExpr)
def _binary(path: PathState, e: BinaryExpr) -> Value:
    stored = recalled(path, e) if path.machine.execution.has_elements else None
    if stored is not None:
        return stored
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
    if operator in TAGGING and (left.target is None) != (right.target is None):
        return _tagged(operator, left if left.target else right, right if left.target else left)
    if operator not in ("-", "%"):
        escape(path, left)
        escape(path, right)
    if operator in ("/", "%"):
        on_division.happens(path, e.left, e.right, right)
    return _result(path, e, left, right)


def _tagged(operator: str, pointer: Value, by: Value) -> Value:
    """Return a pointer, kept as a number, whose unused bits are set or cleared; or these bits."""
    low, high = by.range
    if operator == "&" and low is not None and high is not None and low >= 0 and high <= TAGS_MAX:
        return number(0, high)
    return pointer.moved(UNKNOWN, None)


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


def _leaves_type(path: PathState, e: BinaryExpr, left: Value, right: Value) -> bool:
    """Return whether untrusted numbers or constants overflow in a sum, difference, product or shift."""
    outside = [one for one in (left, right) if one.taint]
    if not outside and not _are_constants(e, left, right):
        return False
    is_joined = e.op == "+" and (_is_byte_in_place(e.left) or _is_byte_in_place(e.right))
    if is_joined or any((one.checked and not _is_bounded(one)) or (one.taint and one.taint.doubt) for one in outside):
        return False
    bounds = _limits_of_result(path, e)
    if bounds is None or _has_fraction(path, e):
        return False
    if bounds[1] < INT_MAX and isinstance(without_casts(e.left), (DerefExpr, IndexExpr)):
        # A character of a text becomes a digit.
        return False
    terms = _within(path, e.left, left, bounds), _within(path, e.right, right, bounds)
    reach = arithmetic(e.op, *terms)
    over = reach[1] is not None and reach[1] > bounds[1]
    under = reach[0] is not None and reach[0] < bounds[0]
    if not (over or under) or not (bounds[0] < 0 or outside):
        return False
    on_overflow.happens(path, Overflow(e, (left, right), terms, NAMES[bounds], bounds, over))
    return True


def _is_byte_in_place(e: Expression) -> bool:
    """Return whether an expression shifts a byte to its place in a larger number, whose bits then do not overlap."""
    e = without_casts(e)
    if not isinstance(e, BinaryExpr) or e.op != "<<":
        return False
    factors = (e.right.left, e.right.right) if isinstance(e.right, BinaryExpr) and e.right.op == "*" else (e.right,)
    return any(isinstance(one, NumberExpr) and one.value and one.value % BYTE_BITS == 0 for one in factors)


def _is_bounded(value: Value) -> bool:
    """Return whether a check of a number gave it an upper bound, so that its range says what is possible."""
    return value.range[1] is not None and value.range[1] not in TYPE_ENDS


def _limits_of_result(path: PathState, e: BinaryExpr) -> tuple[int, int] | None:
    """Return the limits of the type of a result; narrow signed operands should stay in their type, though promoted."""
    first = type_of(path, e.left)
    kind = first or type_of(path, e.right)
    bounds = limits_of(path.machine.plain(kind)) if kind else None
    if bounds is not None and bounds[1] < INT_MAX and not isinstance(without_casts(e.left), BinaryExpr):
        return bounds if first is not None and bounds[0] else None
    return number_limits(path, e) or bounds


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
    """Return the range of an operand, which its type limits."""
    low, high = possible(path, e, value)
    # Negative numbers are converted to an unsigned type first.
    low = bounds[0] if low is None else max(low, 0) if bounds[0] == 0 else low
    return low, (bounds[1] if high is None else high)
