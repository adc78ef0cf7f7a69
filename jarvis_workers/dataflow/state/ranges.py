"""Interval arithmetic on integers: (lowest, highest), where None is no bound."""

from jarvis_workers.dataflow.state.sizes import INT_MAX, is_in_units
from jarvis_workers.dataflow.state.values import UNKNOWN, Range

WIDEST_SHIFT = 64
# The operators whose result is unknown if an operand is.
LINEAR = frozenset(("+", "-", "*"))


def is_exact(reach: Range) -> bool:
    return reach[0] is not None and reach[0] == reach[1]


def in_units(reach: Range) -> bool:
    """Return whether a bound of a range counts the bytes of an unknown type."""
    return is_in_units(reach[0]) or is_in_units(reach[1])


def are_mixed(first: Range, second: Range) -> bool:
    """Return whether one range counts the bytes of an unknown type and the other one does not; 0 is both."""
    if UNKNOWN in (first, second) or in_units(first) == in_units(second):
        return False
    other = second if in_units(first) else first
    return any(bound for bound in other)


def _has_meaning(operator: str, first: Range, second: Range) -> bool:
    """Return whether the result of an operation on sizes of unknown types is a number or such a size again."""
    if operator in ("+", "-"):
        return not are_mixed(first, second)
    both = in_units(first) and in_units(second)
    return both if operator == "/" else operator == "*" and not both


def plus(first: Range, second: Range) -> Range:
    return (
        first[0] + second[0] if first[0] is not None and second[0] is not None else None,
        first[1] + second[1] if first[1] is not None and second[1] is not None else None,
    )


def times(first: Range, by: int) -> Range:
    low = first[0] * by if first[0] is not None else None
    high = first[1] * by if first[1] is not None else None
    return (low, high) if by >= 0 else (high, low)


def arithmetic(operator: str, first: Range, second: Range) -> Range:
    """Return the range of `first operator second` for unbounded integers; unknown for sizes of unknown meaning."""
    is_unknown = operator in LINEAR and UNKNOWN in (first, second)
    if is_unknown or ((in_units(first) or in_units(second)) and not _has_meaning(operator, first, second)):
        return UNKNOWN
    if operator == "+":
        return plus(first, second)
    if operator == "-":
        return plus(first, (None if second[1] is None else -second[1], None if second[0] is None else -second[0]))
    if operator == "*":
        return _product(first, second)
    by = second[0]
    if by is None or by != second[1]:
        return _of_bits(operator, first, second)
    return _by_constant(operator, first, by)


def _of_bits(operator: str, first: Range, second: Range) -> Range:
    """Return the range of a bitwise operation on two numbers that are not negative."""
    (a, b), (c, d) = first, second
    if a is None or c is None or a < 0 or c < 0:
        return UNKNOWN
    if operator in ("|", "^") and b is not None and d is not None:
        return (max(a, c) if operator == "|" else 0), (1 << max(b, d).bit_length()) - 1
    if operator == "&":
        return 0, least(b, d)
    if operator == "<<" and b is not None and d is not None and d < WIDEST_SHIFT:
        return a << c, b << d
    return UNKNOWN


def _product(first: Range, second: Range) -> Range:
    (a, b), (c, d) = first, second
    if a is not None and b is not None and c is not None and d is not None:
        products = (a * c, a * d, b * c, b * d)
        return min(products), max(products)
    if a is not None and a >= 0 and c is not None and c >= 0:
        return a * c, None
    return UNKNOWN


def _by_constant(operator: str, first: Range, by: int) -> Range:
    low, high = first
    if operator == "/" and by > 0:
        return None if low is None else _quotient(low, by), None if high is None else _quotient(high, by)
    if operator == "%" and by > 0:
        return (1 - by if low is not None and low < 0 else 0), by - 1
    if operator == "&" and by >= 0 and (low is None or low != high):
        return 0, by if low is None or low < 0 else least(high, by)
    if low is not None and 0 <= by < WIDEST_SHIFT and (operator == ">>" or (operator == "<<" and low >= 0)):
        return _bits(operator, low, by), None if high is None else _bits(operator, high, by)
    if low is None or low != high:
        return _of_bits(operator, first, (by, by))
    exact = _bits(operator, low, by)
    return exact, exact


def _bits(operator: str, one: int, by: int) -> int | None:
    if operator in ("|", "&"):
        return one | by if operator == "|" else one & by
    if operator == "^":
        return one ^ by
    if operator in ("<<", ">>") and 0 <= by < WIDEST_SHIFT:
        return one << by if operator == "<<" else one >> by
    return None


def _quotient(one: int, by: int) -> int:
    """Return the quotient of a division in C, truncated towards zero."""
    return one // by if one >= 0 else -(-one // by)


def meet(first: Range, second: Range) -> Range:
    """Return the intersection of two ranges."""
    low = second[0] if first[0] is None or (second[0] is not None and second[0] > first[0]) else first[0]
    high = second[1] if first[1] is None or (second[1] is not None and second[1] < first[1]) else first[1]
    return low, high


def either(first: Range, second: Range) -> Range:
    """Return the smallest range that contains both ranges."""
    low = None if first[0] is None or second[0] is None else min(first[0], second[0])
    high = None if first[1] is None or second[1] is None else max(first[1], second[1])
    return low, high


def without(reach: Range, one: int) -> Range:
    low, high = reach
    return (one + 1 if low == one else low), (one - 1 if high == one else high)


def wider(before: Range, now: Range) -> Range:
    """Widen a range for all iterations of a loop, given its values before and after the first iteration."""
    low, high = now
    if before[1] is None or (high is not None and high > before[1]):
        high = None
    if before[0] is None or (low is not None and low < before[0]):
        low = None
    return (before[0] if low is not None else None), high


def bounds_of(compare: str, other: Range) -> Range:
    """Return the range of values for which a comparison with at least one value in `other` holds."""
    low, high = other
    if compare == "==":
        return other
    if compare == "<":
        return None, None if high is None else high - 1
    if compare == "<=":
        return None, high
    if compare == ">":
        return None if low is None else low + 1, None
    if compare == ">=":
        return low, None
    return UNKNOWN


def equal(first: Range, second: Range) -> bool | None:
    """Return whether two numbers are equal; None if it is undecided."""
    (a, b), (c, d) = first, second
    if a is not None and a == b and a == c and c == d:
        return True
    if (b is not None and c is not None and b < c) or (a is not None and d is not None and a > d):
        return False
    return None


def decided(compare: str, first: Range, second: Range) -> bool | None:
    """Return whether `<`, `<=`, `>` or `>=` holds; None if it is undecided."""
    if compare in (">", ">="):
        first, second = second, first
    (a, b), (c, d) = first, second
    strict = compare in ("<", ">")
    if b is not None and c is not None and (b < c or (not strict and b == c)):
        return True
    if a is not None and d is not None and (a > d or (strict and a == d)):
        return False
    return None


def least(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


def most(amount: Range) -> int | None:
    """Return the upper bound of an amount; its lower bound if the upper one is not below INT_MAX."""
    low, high = amount
    return low if high is None or high >= INT_MAX else high
