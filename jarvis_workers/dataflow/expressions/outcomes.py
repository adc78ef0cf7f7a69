"""Fork a path where the truth value of a NULL test, or of a test of a descriptor, is stored or returned.

`ok = p != NULL`, `ok &= fd >= 0` and `rc = p ? 0 : -1` are tests of the pointer; a test of `ok` or `rc` repeats them.
"""

from typing import NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.expressions.conditions import branch, condition_of
from jarvis_workers.dataflow.expressions.lvalues import place_quietly
from jarvis_workers.dataflow.queries.ast_queries import OPPOSITE, compared_with_constant
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.values import ANY

FORMS = frozenset((ir.BinaryExpr, ir.UnaryExpr, ir.AndExpr, ir.OrExpr, ir.ConditionalExpr, ir.CastExpr, ir.CallExpr))
BOOLEANS = frozenset(("bool", "_Bool", "gboolean", "BOOL"))
TRUE = ir.NumberExpr("n", 1)


class Choice(NamedTuple):
    """What an expression is if a condition holds, and if not; `places` are what the condition may test for NULL."""

    condition: ir.Expression
    then: ir.Expression
    otherwise: ir.Expression
    places: tuple[ir.Expression, ...]


def outcomes(
    path: PathState, e: ir.Expression | None, line: int, *, to_variable: bool = False
) -> list[tuple[PathState, ir.Expression]] | None:
    """Return the paths on which a stored or returned expression decides a pointer, each with what it is there.

    None if it decides none. A choice between NULL and something else counts if it is stored in a variable.
    """
    if e is None or type(e) not in FORMS:
        return None
    choice = path.machine.once(e, lambda: choice_of(path, e), "choice")
    if choice is None:
        return None
    is_null = isinstance(choice.then, ir.NullExpr) or isinstance(choice.otherwise, ir.NullExpr)
    if not (is_null and to_variable) and not any(_is_followed(path, one) for one in choice.places):
        return None
    yes, no = branch(path, choice.condition, line)
    return [(one, choice.then) for one in yes] + [(one, choice.otherwise) for one in no]


def choice_of(path: PathState, e: ir.Expression) -> Choice | None:
    """Return an expression as a choice between two values by a condition, None if it is no truth value of a place."""
    condition: ir.Expression | None = e
    if isinstance(e, ir.ConditionalExpr):
        return _choice(e.condition, e.then, e.otherwise)
    if isinstance(e, ir.CastExpr):
        condition = e.operand if e.type in BOOLEANS else None
    elif isinstance(e, ir.CallExpr):
        condition = condition_of(path, e)
        if condition is not None and (choice := _within_macro(path, condition)) is not None:
            return choice
    elif isinstance(e, ir.BinaryExpr) and e.op not in OPPOSITE:
        return None
    return _choice(condition, TRUE, ir.ZERO)


def _within_macro(path: PathState, condition: ir.Expression) -> Choice | None:
    """Return the choice in the text of a macro, which may name itself."""
    machine, before = path.machine, path.machine.mode
    machine.mode = before.in_macro()
    choice = choice_of(path, condition)
    machine.mode = before
    return choice


def _choice(condition: ir.Expression | None, then: ir.Expression, otherwise: ir.Expression) -> Choice | None:
    places = tuple(compared_with_constant(condition))
    return Choice(condition, then, otherwise, places) if condition is not None and places else None


def _is_followed(path: PathState, e: ir.Expression) -> bool:
    """Return whether a place holds a pointer that may be NULL, is or is not, or a descriptor that may be negative."""
    place = place_quietly(path, e)
    value = path.cells.get(place, ANY) if place is not None else ANY
    if value.null:
        return True
    made = path.object_of(value)
    low, high = value.range
    return made is not None and made.kind == "descriptor" and (low or -1) < 0 and (high is None or high >= 0)
