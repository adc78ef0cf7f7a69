"""Fork a path at a condition.

An undecided condition that the function tests again is remembered by its text (a path condition): the same path does
not take both outcomes.
"""

from typing import Any

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.calls.callees import callee
from jarvis_workers.dataflow.events import on_comparison
from jarvis_workers.dataflow.expressions.evaluate import evaluate, evaluates
from jarvis_workers.dataflow.expressions.macro_expansion import MACROS_DEEP, assertion, expand, macro_of
from jarvis_workers.dataflow.expressions.narrowing import Comparison, judged, narrow
from jarvis_workers.dataflow.expressions.side_effects import keep_effects
from jarvis_workers.dataflow.queries.ast_queries import OPPOSITE, ORDERED, leaves, walk, without_casts
from jarvis_workers.dataflow.queries.condition_queries import fact_of
from jarvis_workers.dataflow.queries.name_heuristics import are_both_success, is_error, is_fatal
from jarvis_workers.dataflow.state.context import facts_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.ranges import are_mixed, decided, either, equal, is_exact
from jarvis_workers.dataflow.state.types import type_of
from jarvis_workers.dataflow.state.values import ANY, IS_NULL, MAYBE_NULL, NOT_NULL, NULL, Object, Value, number

Split = tuple[list[PathState], list[PathState]]
PLAIN = frozenset(
    (ir.NameExpr, ir.NumberExpr, ir.NullExpr, ir.MemberExpr, ir.ArrowExpr, ir.DerefExpr, ir.IndexExpr, ir.SizeofExpr)
)
COMPOSED = frozenset((ir.BinaryExpr, ir.CastExpr, ir.AssignExpr))
TRANSPARENT = frozenset(("unlikely", "likely", "__builtin_expect"))
IMPURE = frozenset((ir.AssignExpr, ir.UpdateExpr, *ir.NEWS, ir.DeleteExpr, ir.DerefExpr, ir.IndexExpr))
IMPURE_LEAVES = (ir.UnknownExpr, *ir.STRINGS)
# At most this many paths are followed from the left operand of && or || into the right one.
FOLLOWED = 2


def branch(path: PathState, condition: ir.Expression | None, line: int | None) -> Split:
    """Return the paths on which a condition is true, and those on which it is false.

    Without a line no event is added to the traces.
    """
    if type(condition) is ir.AndExpr:
        return _further(*branch(path, condition.left, line), condition.right, line)
    if type(condition) is ir.OrExpr:
        return _otherwise(*branch(path, condition.left, line), condition.right, line)
    if type(condition) is ir.UnaryExpr and condition.op == "!":
        yes, no = branch(path, condition.operand, line)
        return no, yes
    if type(condition) is ir.CallExpr:
        inside = condition_of(path, condition)
        if inside is not None:
            return _within_macro(path, inside, line)
    elif type(condition) is ir.CommaExpr and condition.parts:
        *before, last = condition.parts
        for part in before:
            evaluate(path, part)
        return branch(path, last, line)
    return _chosen(path, condition, line) or _split(path, _comparison(path, condition), line)


def _chosen(path: PathState, condition: ir.Expression | None, line: int | None) -> Split | None:
    """Fork at the conditions that a conditional expression chooses from."""
    if type(condition) is not ir.ConditionalExpr:
        return None
    yes, no = branch(path, condition.condition, line)
    sides = [branch(one, condition.then, line) for one in yes] + [branch(one, condition.otherwise, line) for one in no]
    return [one for side in sides for one in side[0]], [one for side in sides for one in side[1]]


def check_assertion(path: PathState, name: str, parts: tuple[ir.Expression, ...]) -> bool:
    """Continue on the path where the condition of an assertion holds; return False if the call is none.

    No path continues after a fatal one that fails.
    """
    condition = assertion(name, parts)
    if condition is None:
        return False
    yes, _ = branch(path.copy(), path.machine.once(parts, lambda: condition), None)
    if yes:
        path.cells, path.objects, path.facts = yes[0].cells, yes[0].objects, yes[0].facts
    elif is_fatal(name):
        path.ended = True
    return True


def condition_of(path: PathState, call: ir.CallExpr) -> ir.Expression | None:
    """Return the condition that the call of a macro stands for, or that of a function that only tests its arguments."""
    machine = path.machine
    if call.args and isinstance(call.callee, ir.NameExpr) and call.callee.name in TRANSPARENT:
        return call.args[0]
    if machine.mode.macros_open >= MACROS_DEEP:
        return None
    macro = macro_of(machine, call)
    if macro is None:
        target = callee(path, call) if id(call) not in path.results and _are_places(call.args) else None
        macro = facts_of(target[0]).predicate if target is not None else None
    if macro is None or isinstance(macro.body, ir.BlockStmt):
        return None
    inside: ir.Expression = machine.once(call, lambda: expand(macro, call))
    return inside


def _are_places(args: tuple[ir.Expression, ...]) -> bool:
    return all(type(without_casts(one)) in PLAIN for one in args)


def _within_macro(path: PathState, condition: ir.Expression, line: int | None) -> Split:
    machine, before = path.machine, path.machine.mode
    machine.mode = before.in_macro()
    sides = branch(path, condition, line)
    machine.mode = before
    return sides


def _further(yes: list[PathState], no: list[PathState], condition: ir.Expression, line: int | None) -> Split:
    yes = [one for one in yes if not one.ended]
    for one in yes[:FOLLOWED]:
        more, less = branch(one, condition, line)
        no = no + less
        yes = [other for other in yes if other is not one] + more
    return yes, no


def _otherwise(yes: list[PathState], no: list[PathState], condition: ir.Expression, line: int | None) -> Split:
    no = [one for one in no if not one.ended]
    for one in no[:FOLLOWED]:
        more, less = branch(one, condition, line)
        yes = yes + more
        no = [other for other in no if other is not one] + less
    return yes, no


def _comparison(path: PathState, condition: Any) -> Comparison:
    """Return a condition as a comparison; any other condition is compared with 0."""
    if type(condition) is ir.BinaryExpr and condition.op in OPPOSITE:
        _, compare, left, right = condition
        first, second = evaluate(path, left), evaluate(path, right)
        if type(left) not in PLAIN or type(right) not in PLAIN:
            judged(path, condition)
        if compare in ORDERED and not path.machine.mode.quiet:
            for side, value in ((left, first), (right, second)):
                if type(side) in COMPOSED:
                    on_comparison.happens(path, condition, side, value)
        if type(right) is ir.NullExpr or (right == ir.ZERO and _is_pointer(path, left, first)):
            second = NULL
        return Comparison(condition, compare, left, right, first, second)
    value = evaluate(path, condition)
    if type(condition) is ir.CallExpr:
        judged(path, condition)
    return Comparison(condition, "!=", condition, ir.ZERO, value, NULL)


def _is_pointer(path: PathState, e: ir.Expression, value: Value) -> bool:
    return bool(value.target or value.null) or (value is ANY and (type_of(path, e) or "").endswith("*"))


def _split(path: PathState, one: Comparison, line: int | None) -> Split:
    outcome_known = _decided(one.compare, one.first, one.second)
    if outcome_known is None:
        fact, sense, again = _fact(path, one.condition)
        fact = f"{path.frame.number}:{fact}"
        outcome = path.facts.get(fact)
        if outcome is None:
            other = path.copy()
            _take(path, one, one.compare, line, (fact, sense) if again else None)
            _take(other, one, OPPOSITE[one.compare], line, (fact, not sense) if again else None)
            return [path], [other]
        outcome_known = outcome == sense
    narrow(path, one, one.compare if outcome_known else OPPOSITE[one.compare])
    return ([path], []) if outcome_known else ([], [path])


def _take(path: PathState, one: Comparison, compare: str, line: int | None, fact: tuple[str, bool] | None) -> None:
    """Constrain a path to a comparison that holds, and record it in the trace."""
    if fact is not None:
        path.facts[fact[0]] = fact[1]
    undecided = one.first.null != MAYBE_NULL
    path.doubt += undecided
    if line is not None:
        text = "{} is true" if compare == one.compare else "{} is false"
        path.note(line, text, one.condition, undecided=undecided)
    narrow(path, one, compare)


def _fact(path: PathState, condition: ir.Expression) -> tuple[str, bool, bool]:
    """Return a condition's positive text, whether it was positive, and whether to remember its outcome."""
    machine = path.machine
    fact = machine.facts.get(id(condition))
    if fact is None:
        again = facts_of(path.frame.function).repeated_conditions
        text, sense = fact_of(condition)
        fact = machine.facts[id(condition)] = (text, sense, text in again and _is_pure(condition))
    return fact


def _is_pure(condition: ir.Expression) -> bool:
    """Return whether a condition has the same outcome when it is evaluated again."""
    if any(type(node) in IMPURE or (isinstance(node, ir.CallExpr) and node.args) for node in walk(condition)):
        return False
    return not any(isinstance(leaf, IMPURE_LEAVES) for leaf in leaves(condition))


def _decided(compare: str, first: Value, second: Value) -> bool | None:
    """Return whether a comparison holds; None if it is undecided."""
    is_code = first.kind is not None and is_error(first.kind)
    if compare in ("==", "!="):
        same = False if is_code and second.range == (0, 0) else _same(first, second)
        return None if same is None else same == (compare == "==")
    if first.null == IS_NULL and second.target and compare in (">", ">="):
        return False
    if first.target and first.target == second.target and is_exact(first.at) and is_exact(second.at):
        return decided(compare, first.at, second.at)
    if first.target or second.target or are_mixed(first.range, second.range):
        return None
    if is_code and second.range == (0, 0):
        return compare in ("<", "<=")
    return decided(compare, first.range, second.range)


def _same(first: Value, second: Value) -> bool | None:
    if second.null == IS_NULL and first.null in (IS_NULL, NOT_NULL):
        return first.null == IS_NULL
    if first.null == IS_NULL and second.null in (IS_NULL, NOT_NULL):
        return second.null == IS_NULL
    if first.target and second.target:
        return _same_target(first, second)
    if first.target or second.target:
        return None
    if first.kind and second.kind and first.kind[0] == second.kind[0] == "#":
        return first.kind == second.kind or are_both_success(first.kind, second.kind)
    return equal(first.range, second.range) if not are_mixed(first.range, second.range) else None


def _same_target(first: Value, second: Value) -> bool | None:
    """Compare two pointers; pointers of callers may alias although their objects have different names."""
    if first.target != second.target:
        return None if "o:" in ((first.target or "")[:2], (second.target or "")[:2]) else False
    return True if first.at == second.at and first.at[0] == first.at[1] else None


@evaluates(ir.AndExpr, ir.OrExpr)
def _both(path: PathState, e: ir.AndExpr | ir.OrExpr) -> Value:
    yes, no = branch(path.copy(), e, None)
    keep_effects(path, e, (*yes, *no))
    if yes and not no:
        return number(1)
    return number(0) if no and not yes else number(0, 1)


def _one_of(path: PathState, e: ir.ConditionalExpr, first: Object, second: Object) -> Value:
    """Return a pointer to one of two literals."""
    key = f"t:{first.element}?{id(e)}"
    path.objects[key] = Object(
        "text", "", either(first.size, second.size), first.element, either(first.length, second.length)
    )
    return Value(target=key, null=NOT_NULL)


@evaluates(ir.ConditionalExpr)
def _choice(path: PathState, e: ir.ConditionalExpr) -> Value:
    yes, no = branch(path.copy(), e.condition, None)
    first = evaluate(yes[0], e.then) if yes else None
    second = evaluate(no[0], e.otherwise) if no else None
    keep_effects(path, e, (*yes[:1], *no[:1]))
    if first is None or second is None:
        return first or second or ANY
    if first == second:
        return first
    one, other = yes[0].object_of(first), no[0].object_of(second)
    if one is not None and other is not None and one.kind == other.kind == "text":
        return _one_of(path, e, one, other)
    null = NOT_NULL if first.null == second.null == NOT_NULL else 0
    checked = all(one.checked or one.taint is None for one in (first, second))
    taint = first.taint or second.taint
    return Value(either(first.range, second.range), null=null, taint=taint, checked=checked and taint is not None)
