"""Effects of calls in the analysis of a project's own taint rule: sources, sinks, sanitizers and propagators."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.dataflow.calls.taint_rules import ANY_ARGUMENT, PROPAGATOR, RETURNS, SANITIZER, SINK, SOURCE, Effect
from jarvis_workers.dataflow.expressions.lvalues import name_target, place_quietly
from jarvis_workers.dataflow.ir.expr import ArrowExpr, CallExpr, Expression, MemberExpr, NameExpr
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
from jarvis_workers.dataflow.library.inputs import taint_memory
from jarvis_workers.dataflow.queries.ast_queries import walk, without_casts
from jarvis_workers.dataflow.queries.pretty import text_of
from jarvis_workers.dataflow.state.context import AnalysisContext
from jarvis_workers.dataflow.state.path import FlowRule, PathState
from jarvis_workers.dataflow.state.ranges import bounds_of, is_exact
from jarvis_workers.dataflow.state.sizes import limits_of
from jarvis_workers.dataflow.state.types import type_of
from jarvis_workers.dataflow.state.values import IS_NULL, Object, PathEvent, PendingCheck, Value
from jarvis_workers.source.call_patterns import ANY_STRING, ELLIPSIS, CallPattern

# The kind of the result of a call that checks an argument begins like this; the key of the check follows.
RESULT_OF_CHECK = "?"
# Callees of a callee are searched for effects as deep as calls are followed.
EFFECTS_DEEP = 3
# Calls with more arguments match no pattern, since two ellipses match in as many ways as the square of their number.
ARGUMENTS_MAX = 64
NULL_NAMES = ("NULL", "nullptr")


class GivenArgument(NamedTuple):
    """An argument of a call, or the object of a method: its code and its value before the call."""

    code: Expression
    value: Value


class EffectMatch(NamedTuple):
    """An effect of a call; `bound` are the arguments that its metavariables stand for."""

    effect: Effect
    bound: Mapping[str, GivenArgument]


def with_effects(
    path: PathState, e: CallExpr, name: str, given: Sequence[GivenArgument], model: Callable[[], Value]
) -> Value:
    """Return the value of a call that has effects; `model` evaluates it as if it had none.

    `given` are its arguments, behind the object of a method.
    """
    matches = [
        EffectMatch(effect, bound)
        for effect in path.machine.effects.get(name, ())
        for bound in _matches(effect.call, given)
    ]
    for effect, bound in matches:
        if effect.kind == SINK:
            _check_sink(path, e, given if effect.focus == ANY_ARGUMENT else [bound[effect.focus]])
    carried = [
        (one, taint) for one in matches if one.effect.kind == PROPAGATOR and (taint := _origin(path, one)) is not None
    ]
    value = model()
    for one, taint in carried:
        value = _taint(path, one, value, taint)
    for one in matches:
        if one.effect.kind == SOURCE:
            value = _taint(path, one, value, path.note(e.line, "{} is a source of tainted data", e))
    for effect, bound in matches:
        if effect.kind == SANITIZER:
            value = _sanitize(path, effect, bound, value)
    return value


def note_check(path: PathState, first: Value, compare: str, second: Value) -> None:
    """Clean the argument of a check whose result compares like this, if the check passed."""
    if first.kind is None or not first.kind.startswith(RESULT_OF_CHECK):
        return
    number = 0 if second.null == IS_NULL else second.range[0] if is_exact(second.range) else None
    if number is None:
        return
    for condition, one in path.machine.checks[first.kind].items():
        if implies((compare, number), condition):
            _clean(path, GivenArgument(one.code, one.value))


def implies(holds: tuple[str, int], condition: tuple[str, int]) -> bool:
    """Return whether a comparison of a number with a constant implies another one."""
    (compare, number), (op, constant) = holds, condition
    if compare == "!=":
        return holds == condition
    low, high = bounds_of(compare, (number, number))
    if op == "!=":
        return (low is not None and constant < low) or (high is not None and constant > high)
    least, most = bounds_of(op, (constant, constant))
    above = least is None or (low is not None and low >= least)
    return above and (most is None or (high is not None and high <= most))


def reaches_effects(
    machine: AnalysisContext, function: LoweredFunction, file: str | None, deep: int = EFFECTS_DEEP
) -> bool:
    """Return whether a function calls one with an effect of the rule, directly or through others."""
    return machine.property_of(f"effects {deep}", function, lambda: _calls_effect(machine, function, file, deep))


def _calls_effect(machine: AnalysisContext, function: LoweredFunction, file: str | None, deep: int) -> bool:
    rule = machine.rule
    calls = [node.callee for node in walk(function.body) if isinstance(node, CallExpr)]
    names = {one.name for one in calls if isinstance(one, NameExpr)}
    methods = {one.member for one in calls if isinstance(one, (MemberExpr, ArrowExpr))}
    if rule is None or not rule.names.isdisjoint(methods | {name.rpartition("::")[2] for name in names}):
        return rule is not None
    callees = (machine.function(name, file) for name in sorted(names - machine.effects.keys())) if deep else ()
    return any(reaches_effects(machine, *one, deep - 1) for one in callees if one is not None)


def _matches(call: CallPattern, given: Sequence[GivenArgument]) -> Iterator[dict[str, GivenArgument]]:
    """Yield what the metavariables stand for, in each way in which a pattern matches the arguments of a call."""
    first = (call.receiver,) if call.receiver else ()
    if len(given) <= ARGUMENTS_MAX:
        yield from _bound((*first, *call.args), given, {})


def _bound(
    args: tuple[str, ...], given: Sequence[GivenArgument], before: dict[str, GivenArgument]
) -> Iterator[dict[str, GivenArgument]]:
    if not args:
        if not given:
            yield before
        return
    arg, *rest = args
    if arg == ELLIPSIS:
        if all(one == ELLIPSIS for one in rest):
            yield before
            return
        for skipped in range(len(given)):
            yield from _bound(tuple(rest), given[skipped:], before)
        return
    if given and _is_one(arg, given[0], before):
        bound = {**before, arg: given[0]} if arg.startswith("$") else before
        yield from _bound(tuple(rest), given[1:], bound)


def _is_one(arg: str, given: GivenArgument, before: Mapping[str, GivenArgument]) -> bool:
    """Return whether an argument of a pattern matches one of a call."""
    code, value = given
    if arg.startswith("$"):
        return arg not in before or before[arg].code == code
    if arg.startswith('"'):
        text = (value.target or "") if value.at == (0, 0) else ""
        return text.startswith("t:") and (arg == ANY_STRING or text.partition(":")[2].partition(":")[2] == arg[1:-1])
    if arg in NULL_NAMES:
        return value.null == IS_NULL
    if arg[0].isdigit() or arg[0] == "-":
        number = int(arg, 0)
        return value.range == (number, number) and value.target is None
    code = without_casts(code)
    return isinstance(code, NameExpr) and code.name == arg


def _check_sink(path: PathState, e: CallExpr, parts: Sequence[GivenArgument]) -> None:
    """Report a tainted argument of a sink."""
    rule = path.machine.rule
    for part in parts:
        taint = _taint_of(path, part.value) or _taint_inside(path, part)
        if taint is not None and rule is not None:
            text = f"{text_of(e)} is a sink, and {text_of(part.code)} is tainted"
            FlowRule(rule.id).report(path, e.line, text, since=taint, sure=rule.confidence)
            return


def _taint_of(path: PathState, value: Value) -> PathEvent | None:
    """Return the source of a value, or of the memory that it points to; a constant has none."""
    if is_exact(value.range):
        return None
    memory = path.object_of(value)
    if memory is not None:
        return memory.taint
    if value.taint is not None or value.target is None:
        return value.taint
    behind = path.cells.get((value.target, value.code or ""))
    return behind.taint if behind is not None and not is_exact(behind.range) else None


def _taint_inside(path: PathState, part: GivenArgument) -> PathEvent | None:
    """Return the source of a part of a struct or array, which is passed by itself or by a pointer."""
    key, inside = part.value.target, part.value.code or ""
    if key is None:
        place = place_quietly(path, part.code)
        if place is None:
            return None
        key, inside = place
    parts = (one for cell, one in path.cells.items() if cell[0] == key and cell[1].startswith(inside) and cell[1])
    return next((taint for one in parts if (taint := _taint_of(path, one)) is not None), None)


def _origin(path: PathState, one: EffectMatch) -> PathEvent | None:
    return _taint_of(path, one.bound[one.effect.origin].value)


def _taint(path: PathState, one: EffectMatch, value: Value, taint: PathEvent) -> Value:
    """Taint the focus of an effect; return the value of the call."""
    if one.effect.focus != RETURNS:
        _taint_argument(path, one.bound[one.effect.focus], taint)
        return value
    if value.target in path.objects:
        taint_memory(path, value, taint)
        return value._replace(taint=taint)
    # It may be a number, or a pointer to tainted memory.
    key = path.machine.name("s")
    path.objects[key] = Object("other", taint=taint, made=taint)
    return Value(value.range, target=key, null=value.null, why=value.why, taint=taint)


def _taint_argument(path: PathState, part: GivenArgument, taint: PathEvent) -> None:
    code, value = without_casts(part.code), part.value
    if value.target is None:
        kind = type_of(path, code) or ""
        is_number = limits_of(path.machine.plain(kind)) is not None
        if not is_number:
            value = name_target(path, code, value)
        place = place_quietly(path, code)
        if place is not None:
            # A macro, or a function that takes a reference, sets the variable itself.
            path.cells[place] = value._replace(taint=taint) if not is_number else Value(taint=taint)
    if value.target is not None:
        taint_memory(path, value, taint)


def _sanitize(path: PathState, effect: Effect, bound: Mapping[str, GivenArgument], value: Value) -> Value:
    if effect.condition is not None:
        return value._replace(kind=_pending(path, effect, bound[effect.focus]))
    if effect.focus == RETURNS:
        return Value(value.range, null=value.null, why=value.why)
    _clean(path, bound[effect.focus])
    return value


def _pending(path: PathState, effect: Effect, part: GivenArgument) -> str:
    """Remember that the result of a call decides whether an argument is clean."""
    condition, code = effect.condition, part.code
    assert condition is not None
    kind = f"{RESULT_OF_CHECK}{effect.call.name}:{path.frame.number}:{text_of(code)}:{part.value.target}"
    checks = path.machine.checks.setdefault(kind, {})
    checks[condition.op, condition.number] = PendingCheck(code, part.value)
    return kind


def _clean(path: PathState, part: GivenArgument) -> None:
    """Remove the taint of an argument, and of the memory that it points to."""
    code, value = part
    memory = path.object_of(value)
    if memory is not None and memory.taint is not None:
        path.objects[value.target or ""] = memory._replace(taint=None)
    for cell, current in list(path.cells.items()):
        is_same = value.target is not None and value.target in (cell[0], current.target)
        if is_same and current.taint is not None:
            path.cells[cell] = current._replace(taint=None)
    place = place_quietly(path, without_casts(code)) if value.taint is not None else None
    if place is not None:
        path.cells[place] = path.cells.get(place, value)._replace(taint=None)
