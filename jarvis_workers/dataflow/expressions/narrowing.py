"""Narrow the values of both operands of a comparison that holds.

Checks of outside data that give no range mark it as checked: sums that are compared, and calls that judge their
arguments.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.calls.tainting import note_check
from jarvis_workers.dataflow.expressions.evaluate import evaluate
from jarvis_workers.dataflow.expressions.lvalues import SOMEWHERE, place_of, place_of_variable, place_quietly
from jarvis_workers.dataflow.expressions.value_numbering import keep_by_text
from jarvis_workers.dataflow.library import LIBRARY
from jarvis_workers.dataflow.memory.pointers import assume_not_null, assume_null, narrowed
from jarvis_workers.dataflow.queries.ast_queries import assigned, without_casts
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.context import facts_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import bounds_of, in_units, is_exact, meet, plus, without
from jarvis_workers.dataflow.state.sizes import NUMBERS_WITH_FRACTIONS, UINT_MAX, is_in_units, limits_of
from jarvis_workers.dataflow.state.types import element_size, type_of
from jarvis_workers.dataflow.state.values import IS_NULL, MAYBE_NULL, NOT_NULL, UNKNOWN, Place, Range, Value

MIRRORED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
STRICT = frozenset(("<", ">"))
UPPER = frozenset(("<", "<="))
LENGTHS = frozenset(("strlen", "wcslen"))
ABSOLUTE = frozenset(("abs", "labs", "llabs", "imaxabs", "fabs"))
CONSTANT = frozenset((ir.NumberExpr, *ir.STRINGS, ir.NullExpr, ir.SizeofExpr))
VARIABLES = frozenset((ir.NameExpr, ir.MemberExpr, ir.ArrowExpr))
SUMS = frozenset((ir.BinaryExpr, ir.CastExpr))
COMPUTED = frozenset((ir.BinaryExpr, ir.CallExpr))
ELEMENTS = frozenset((ir.DerefExpr, ir.IndexExpr))
PLACES = VARIABLES | ELEMENTS
GROWING = frozenset(("+", "*", "<<", "|"))
# Conditions are searched for calls up to this depth.
DEEP = 3


class Comparison(NamedTuple):
    """A condition as a comparison: its operands and their values."""

    condition: ir.Expression
    compare: str
    left: ir.Expression
    right: ir.Expression
    first: Value
    second: Value


def narrow(path: PathState, one: Comparison, compare: str) -> None:
    """Narrow both operands, given that `compare` holds."""
    if path.machine.checks:
        note_check(path, one.first, compare, one.second)
        note_check(path, one.second, MIRRORED[compare], one.first)
    keep(path, compare, one.left, _as_compared(path, compare, one, one.first), one.second)
    if type(one.right) not in CONSTANT:
        mirrored = MIRRORED[compare]
        keep(path, mirrored, one.right, _as_compared(path, mirrored, one, one.second), one.first)
    if one.first.target is not None and one.first.target == one.second.target:
        _keep_offset(path, compare, one.left, one.first, one.second)
        _keep_offset(path, MIRRORED[compare], one.right, one.second, one.first)
    if type(one.left) in ELEMENTS and is_exact(one.second.range) and compare in ("==", "!="):
        is_zero = one.second.range == (0, 0)
        if is_zero or compare == "==":
            _note_terminator(path, one.left, is_zero=is_zero, is_text=is_zero == (compare == "!="))
    elif type(one.right) in ELEMENTS and one.first.range == (0, 0):
        _note_terminator(path, one.right, is_zero=True, is_text=compare != "==")
    if type(one.left) in SUMS and (one.first.taint or one.first.target):
        limit_terms(path, compare, one.left)
    if type(one.right) in SUMS and (one.second.taint or one.second.target):
        limit_terms(path, MIRRORED[compare], one.right)


def _keep_offset(path: PathState, compare: str, e: ir.Expression, value: Value, other: Value) -> None:
    """Narrow the offset of a pointer that is compared with one into the same object; whole elements lie between."""
    e = e.operand if type(e) is ir.UpdateExpr and e.prefix else e
    place = _place_of_operand(path, e) if type(e) in VARIABLES else None
    if place is None or value.code or other.code:
        return
    width = element_size(path, e, path.object_of(value))
    (low, high), (first, last) = value.at, other.at
    if compare == "!=" and first is not None and first == last:
        compare = ">" if low == first else "<" if high == first else compare
    more = width - 1
    reach = meet(value.at, bounds_of(compare, plus(other.at, (more, more) if compare == ">" else (-more, -more))))
    if compare not in STRICT:
        reach = meet(value.at, bounds_of(compare, other.at))
    if reach != value.at and (None in reach or (reach[0] or 0) <= (reach[1] or 0)):
        path.cells[place] = value.moved(reach, value.taint)


def _note_terminator(path: PathState, element: Any, *, is_zero: bool, is_text: bool) -> None:
    """Record a comparison of an element with 0 or another number: the code behind it knows whether the text ends there.

    A test of the first element only asks whether there is any text, which `is_text` tells.
    """
    is_index = type(element) is ir.IndexExpr
    pointer = element.base if is_index else element.pointer
    if type(pointer) not in VARIABLES:
        return
    value = evaluate(path, pointer)
    memory = path.object_of(value)
    is_first = value.at == (0, 0) and (not is_index or element.subscript == ir.ZERO)
    if memory is None:
        return
    if is_first:
        if is_text and memory.length[0] == 0 and memory.length[1] != 0:
            path.objects[value.target or ""] = memory._replace(length=(1, memory.length[1]))
    elif memory.full is not None and is_zero:
        path.objects[value.target or ""] = memory._replace(full=None)


def _as_compared(path: PathState, compare: str, one: Comparison, value: Value) -> Value:
    """Return an outside number with an upper bound; in a comparison of unsigned numbers it is not negative."""
    if value.taint is None or value.range[0] is not None or compare not in UPPER or not _is_unsigned(path, one):
        return value
    return value._replace(range=(0, value.range[1]))


def _is_unsigned(path: PathState, one: Comparison) -> bool:
    """Return whether the operands are converted to an unsigned type: that of one of them, if the other is no wider."""
    kinds = [type_of(path, side) or "int" * (type(side) is ir.NumberExpr) for side in (one.left, one.right)]
    limits = [limits_of(path.machine.plain(kind)) for kind in kinds]
    widest = max((high for bounds in limits if bounds is not None for high in bounds), default=0)
    return widest >= UINT_MAX and None not in limits and (0, widest) in limits


def keep(path: PathState, compare: str, e: ir.Expression, value: Value, other: Value) -> None:
    """Narrow `e`, whose value is `value`, given that `e compare other` holds."""
    if type(e) in CONSTANT or (other.range == UNKNOWN and not other.null and not value.taint):
        return
    e = without_casts(e)
    if compare == "==" and other.range == (0, 0) and type_of(path, e) in NUMBERS_WITH_FRACTIONS:
        # Code that tests a fraction for 0 may ask for its sign by a division.
        return
    scale = _inside_absolute(e)
    if scale is not None:
        _keep_absolute(path, compare, scale, other.range[1])
        return
    if type(e) is ir.UpdateExpr:
        e = e.operand
        value = evaluate(path, e)
    place = _place_of_operand(path, e)
    if value.null == MAYBE_NULL and type(e) is ir.IndexExpr and (place is None or place[1].endswith(SOMEWHERE)):
        _note_null(path, value, _null(compare, value, other))
    elif place is None:
        _keep_computed(path, compare, e, value, other)
    elif not place[1].endswith(SOMEWHERE):
        _keep_at(path, compare, place, value, other)
    elif value.taint is not None and _limits(compare, other.range):
        path.cells[place] = value._replace(checked=True)


def _keep_computed(path: PathState, compare: str, e: ir.Expression, value: Value, other: Value) -> None:
    """Narrow a number that may be computed again: x of `x - 2 > 16`, where x is a sum, call or variable."""
    if type(e) is ir.CallExpr:
        _keep_call(path, compare, e, value, other)
    elif type(e) is not ir.BinaryExpr:
        return
    reach = other.range
    while isinstance(e, ir.BinaryExpr) and e.op in ("+", "-") and isinstance(e.right, ir.NumberExpr):
        by = e.right.value if e.op == "-" else -e.right.value
        e, reach = without_casts(e.left), plus(reach, (by, by))
    if value.taint is None and (type(e) is not ir.CallExpr or compare not in UPPER or not _limits(compare, reach)):
        return
    if type(e) in COMPUTED and text_of(e) not in facts_of(path.frame.function).repeated_numbers:
        return
    machine = path.machine
    before, machine.mode = machine.mode, machine.mode.quietly()
    value = evaluate(path.copy(), e)
    machine.mode = before
    if value.target is not None:
        return
    place = _place_of_operand(path, e)
    if place is not None and not place[1].endswith(SOMEWHERE):
        _keep_at(path, compare, place, value, Value(reach))
    elif place is None:
        limited = value.checked or _limits(compare, reach)
        keep_by_text(path, e, value.compared(_reach(compare, value.range, reach), value.null, checked=limited))


def _keep_call(path: PathState, compare: str, call: ir.CallExpr, value: Value, other: Value) -> None:
    """Narrow what a call returned: whether it is NULL, and the length of the string that it measured."""
    if value.null == MAYBE_NULL:
        _note_null(path, value, _null(compare, value, other))
    if type(call.callee) is not ir.NameExpr or call.callee.name not in LENGTHS or not call.args:
        return
    pointer = without_casts(call.args[0])
    text = evaluate(path.copy(), pointer) if type(pointer) in VARIABLES else None
    measured, (start, end) = (path.object_of(text), text.at) if text else (None, UNKNOWN)
    if text is None or measured is None or start is None or start != end:
        return
    before = start // measured.element
    least, most = _reach(compare, value.range, other.range)
    shortest, longest = measured.length
    if most is not None and not is_in_units(most) and (longest is None or most + before < longest):
        longest = most + before
    if least is not None and shortest is not None and not is_in_units(least) and least + before > shortest:
        shortest = least + before
    if (shortest, longest) != measured.length:
        path.objects[text.target or ""] = measured._replace(length=(shortest, longest))


def _place_of_operand(path: PathState, e: ir.Expression) -> Place | None:
    """Return the cell of an operand; None if it has side effects, such as `*p++`: they have happened already."""
    if type(e) is ir.NameExpr:
        return place_of_variable(path, e.name)
    if type(e) not in PLACES or path.machine.once(e, lambda: bool(assigned((e,))), "assigns"):
        return None
    return place_quietly(path, e)


def _keep_at(path: PathState, compare: str, place: Place, value: Value, other: Value) -> None:
    """Narrow the value of a cell."""
    null = _null(compare, value, other)
    if null == IS_NULL and not value.null and path.machine.mode.unfolding:
        # A macro tests its argument for all its uses; this one may never be NULL.
        return
    _note_null(path, value, null)
    reach = _reach(compare, value.range, other.range)
    limited = value.checked or _limits(compare, other.range)
    if null == IS_NULL:
        path.cells[place] = value.nulled(value.why or path.trail)
    elif reach != value.range or null != value.null or limited != value.checked:
        _replace_copies(path, place, value.compared(reach, null, checked=limited))
    narrowed(path, value, reach)


def _replace_copies(path: PathState, place: Place, value: Value) -> None:
    """Replace the value of a cell, and of those that the same outside number was assigned to: they share one object."""
    before = path.cells.get(place)
    path.cells[place] = value
    if before is not None and before.taint is not None:
        for cell, current in path.cells.items():
            if current is before:
                path.cells[cell] = value


def _note_null(path: PathState, value: Value, null: int) -> None:
    """Record for all pointers to an object whether they are NULL."""
    if value.target and null == IS_NULL:
        assume_null(path, value)
    elif value.target and value.null == MAYBE_NULL and null == NOT_NULL:
        assume_not_null(path, value)


def _null(compare: str, value: Value, other: Value) -> int:
    """Return the nullness of a value, given that `compare` holds."""
    if other.null == IS_NULL and compare in ("==", "!="):
        return IS_NULL if compare == "==" else NOT_NULL
    return NOT_NULL if compare == "!=" and other.range == (0, 0) else value.null


def _reach(compare: str, reach: Range, other: Range) -> Range:
    if compare != "==" and in_units(other):
        # Whatever the size of an unknown type is, it is not 0.
        return meet(reach, (1, None)) if compare in (">", ">=") and (other[0] or 0) > 0 else reach
    reach = meet(reach, bounds_of(compare, other))
    if compare == "!=" and other[0] is not None and is_exact(other):
        return without(reach, other[0])
    return reach


def _limits(compare: str, other: Range) -> bool:
    """Return whether a comparison sets an upper bound; a comparison with 0 only tests the sign."""
    return compare in ("<", "<=", "==") and other != (0, 0) and other[1] != 0


def _keep_absolute(path: PathState, compare: str, e: ir.Expression, bound: int | None) -> None:
    value = evaluate(path.copy(), e)
    if type(e) not in VARIABLES or bound is None or compare not in ("<", "<="):
        return
    place = place_of(path, e)
    if place:
        path.cells[place] = value._replace(range=meet(value.range, (-bound, bound)), checked=True)


def _inside_absolute(e: ir.Expression) -> ir.Expression | None:
    """Return x of abs(x); None for any other expression."""
    if type(e) is not ir.CallExpr or not e.args or type(e.callee) is not ir.NameExpr or e.callee.name not in ABSOLUTE:
        return None
    inner = e.args[0]
    while isinstance(inner, ir.CastExpr):
        inner = inner.operand
    return inner


def limit_terms(path: PathState, compare: str, e: ir.Expression) -> None:
    """Record that the terms of a sum are bounded, given that `e compare ...` holds."""
    for term in _terms(e, upper=compare in ("<", "<=", "==")):
        _mark(path, term)


def judged(path: PathState, condition: ir.Expression, deep: int = DEEP) -> None:
    """Record that the arguments of the calls in a condition are checked by the called function."""
    if isinstance(condition, ir.CallExpr):
        if not isinstance(condition.callee, ir.NameExpr) or condition.callee.name not in LIBRARY:
            check_arguments(path, condition.args)
    elif deep and isinstance(condition, (ir.BinaryExpr, ir.AndExpr, ir.OrExpr)):
        judged(path, condition.left, deep - 1)
        judged(path, condition.right, deep - 1)
    elif deep and isinstance(condition, (ir.UnaryExpr, ir.CastExpr)):
        judged(path, condition.operand, deep - 1)


def check_arguments(path: PathState, parts: tuple[ir.Expression, ...]) -> None:
    for part in parts:
        for term in _terms(part, upper=True):
            _mark(path, term)


def _terms(e: ir.Expression, *, upper: bool) -> Iterator[ir.Expression]:
    """Yield the variables that a bound of an expression bounds."""
    e = without_casts(e)
    if type(e) in VARIABLES:
        if upper:
            yield e
    elif isinstance(e, ir.BinaryExpr) and e.op in GROWING:
        yield from _terms(e.left, upper=upper)
        yield from _terms(e.right, upper=upper)
    elif isinstance(e, ir.BinaryExpr) and e.op in ("-", "/"):
        yield from _terms(e.left, upper=upper)
        yield from _terms(e.right, upper=not upper)


def _mark(path: PathState, e: ir.Expression) -> None:
    place = place_quietly(path, e)
    value = _value_at(path, place, e) if place is not None else None
    if place is None or value is None or value.checked:
        return
    memory = path.object_of(value)
    if value.taint is not None or (memory is not None and memory.taint is not None):
        path.cells[place] = value._replace(checked=True)


def _value_at(path: PathState, place: Place, e: ir.Expression) -> Value | None:
    """Return the value of a variable, or of a field that the path has not loaded since its struct was read."""
    value = path.cells.get(place)
    if value is not None or type(e) is ir.NameExpr:
        return value
    machine = path.machine
    before, machine.mode = machine.mode, machine.mode.quietly()
    value = evaluate(path, e)
    machine.mode = before
    return value
