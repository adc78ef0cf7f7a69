"""Tell what an expression is worth on a path, and do to the path what it does.

Each kind of expression has a function of its own, which registers itself with @evaluates; `function_analysis` imports
all the modules that have some.
"""

from collections.abc import Callable
from typing import Any

from jarvis_workers.dataflow.ast_queries import length_of_text
from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.ranges import is_exact
from jarvis_workers.dataflow.sizes import NUMBERS_WITH_FRACTIONS
from jarvis_workers.dataflow.types import fitted, key_of, type_of
from jarvis_workers.dataflow.values import ANY, NOT_NULL, NULL, Expression, Object, Value, number

__all__ = ["StepLimitReached", "evaluate", "evaluate_all", "evaluates"]

Act = Callable[[PathState, Expression], Value]
ACTS: dict[str, Act] = {}
# What a function may cost; where a line is worth more than all its sense, the walk ends.
EVALUATIONS = 60_000


class StepLimitReached(Exception):
    """A function has taken all the steps it may: this ends a walk, and is no error."""


def evaluates(*kinds: str) -> Callable[[Act], Act]:
    """Mark the function that evaluates some kinds of expressions."""

    def keep(act: Act) -> Act:
        ACTS.update(dict.fromkeys(kinds, act))
        return act

    return keep


def evaluate(path: PathState, e: Any) -> Value:
    """Return what an expression is worth; what it does is done to the path."""
    act = ACTS.get(e[0]) if e else None
    if act is None:
        return ANY
    machine = path.machine
    machine.evaluated += 1
    if machine.evaluated > EVALUATIONS:
        raise StepLimitReached
    return act(path, e)


def evaluate_all(path: PathState, parts: list[Expression]) -> list[Value]:
    return [evaluate(path, part) for part in parts]


@evaluates("n")
def _number(path: PathState, e: Expression) -> Value:
    return number(e[1])


@evaluates("null")
def _null(path: PathState, e: Expression) -> Value:
    return NULL


@evaluates("s")
def _text(path: PathState, e: Expression) -> Value:
    element = 4 if e[2] else 1
    key = f"t:{element}:{e[1]}"
    if key not in path.objects:
        length = length_of_text(e)
        size = (length + 1) * element
        path.objects[key] = Object("text", "", (size, size), element, (length, length), filled=length)
    return Value(target=key, null=NOT_NULL)


@evaluates("{}")
def _braces(path: PathState, e: Expression) -> Value:
    for part in e[1]:
        evaluate(path, part[2] if part and part[0] == ".=" else part)
    return ANY


@evaluates(",")
def _comma(path: PathState, e: Expression) -> Value:
    value = ANY
    for part in e[1]:
        value = evaluate(path, part)
    return value


@evaluates("u")
def _unary(path: PathState, e: Expression) -> Value:
    value = evaluate(path, e[2])
    low, high = value.range
    if e[1] == "-":
        return Value((None if high is None else -high, None if low is None else -low), taint=value.taint)
    if e[1] != "!":
        return ANY
    return number(int(low == 0)) if is_exact(value.range) else number(0, 1)


@evaluates("t")
def _cast(path: PathState, e: Expression) -> Value:
    value = evaluate(path, e[2])
    if value.range == (0, 0) and e[1].endswith("*") and not value.target:
        return value._replace(null=NULL.null)
    if e[1] in NUMBERS_WITH_FRACTIONS:
        return ANY
    return fitted(path, value, e[1], cast=True)


@evaluates("z")
def _sizeof(path: PathState, e: Expression) -> Value:
    machine, inner = path.machine, e[2]
    if e[1]:
        return number(machine.size_of(e[1]))
    if inner and inner[0] == "v":
        held = path.objects.get(key_of(path, inner[1]))
        if held is not None and (inner[1] not in path.frame.types or path.frame.is_array(inner[1])):
            return Value(held.size)
    if inner and inner[0] == "s":
        return number((length_of_text(inner) + 1) * (4 if inner[2] else 1))
    kind = type_of(path, inner) if inner else None
    return number(machine.size_of(kind)) if kind else Value((1, None))
