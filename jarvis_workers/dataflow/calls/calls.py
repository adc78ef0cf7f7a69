"""Evaluate calls without a followed body: library functions, macros and unknown functions."""

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.calls.callees import own_method, pointed_library
from jarvis_workers.dataflow.calls.termination import never_comes_back
from jarvis_workers.dataflow.calls.unknown_calls import apply_model, call_method, call_unknown, traits_of
from jarvis_workers.dataflow.expressions.evaluate import evaluate, evaluate_all, evaluates
from jarvis_workers.dataflow.expressions.lvalues import PLACES, place_of
from jarvis_workers.dataflow.expressions.macro_expansion import MACROS_DEEP, expand, macro_of
from jarvis_workers.dataflow.expressions.value_numbering import recalled
from jarvis_workers.dataflow.library import LIBRARY
from jarvis_workers.dataflow.memory.ownership import make, release_object
from jarvis_workers.dataflow.memory.pointers import escape
from jarvis_workers.dataflow.queries.ast_queries import alias_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.values import ANY, MAYBE_NULL, NOT_NULL, Object, Place, Value

# The operands of these are not evaluated.
UNEVALUATED = frozenset(
    (
        "offsetof",
        "__builtin_offsetof",
        "typeof",
        "__typeof__",
        "_Alignof",
        "__alignof__",
        "__builtin_types_compatible_p",
    )
)


@evaluates(ir.CallExpr)
def _call(path: PathState, e: ir.CallExpr) -> Value:
    path.machine.execution.line = e.line
    done = path.results.pop(id(e), None)
    if done is None and path.machine.execution.has_elements:
        done = recalled(path, e)
    if done is not None:
        return done
    called = e.callee
    pointed = pointed_library(path, called)
    if pointed is not None:
        return apply_model(path, pointed, e)
    if type(called) is ir.NameExpr:
        return _call_of_name(path, called.name, e)
    if never_comes_back(path, called):
        evaluate_all(path, e.args)
        path.ended = True
        return ANY
    if isinstance(called, (ir.MemberExpr, ir.ArrowExpr)):
        return call_method(path, called, e)
    return apply_model(path, "", e)


def _call_of_name(path: PathState, name: str, e: ir.CallExpr) -> Value:
    machine = path.machine
    if name in UNEVALUATED:
        return Value((0, None), checked=True)
    if name in machine.modelled:
        return _by_model(path, name, e)
    if name in LIBRARY and own_method(path, name) is not None:
        return apply_model(path, "", e)
    macro = machine.macro(name) if name not in LIBRARY and name not in machine.effects else None
    if not macro or machine.mode.macros_open >= MACROS_DEEP:
        return apply_model(path, name.removeprefix("std::").removeprefix("::"), e)
    before, machine.mode = machine.mode, machine.mode.in_macro()
    alias = alias_of(macro)
    if alias is not None and alias != name:
        value = _call_of_name(path, alias, machine.once(e, lambda: e._replace(callee=ir.NameExpr("v", alias)), "alias"))
    elif (
        isinstance(macro, ir.FunctionMacro)
        and macro_of(machine, e) is macro
        and not isinstance(macro.body, ir.BlockStmt)
    ):
        value = evaluate(path, machine.once(e, lambda: expand(macro, e)))
    else:
        value = apply_model(path, name.removeprefix("std::").removeprefix("::"), e)
    machine.mode = before
    return value


def _by_model(path: PathState, name: str, e: ir.CallExpr) -> Value:
    """Evaluate a call of a function that a project models."""
    models, values = path.machine.models, evaluate_all(path, e.args)
    if name in models.releases and values:
        release_object(path, e.args[0], values[0], "malloc", e.line)
        return ANY
    result = call_unknown(path, traits_of(name), e, values)
    path.ended = name in models.never_returns
    for value in values if name in models.takes else ():
        escape(path, value)
    may_be_null = name in models.may_return_null
    if name not in models.allocates and not may_be_null:
        return result
    made = Object("heap", "malloc") if name in models.allocates else Object("other")
    note = "{} may return NULL" if may_be_null else "allocated by {}"
    return make(path, e, made, null=MAYBE_NULL if may_be_null else NOT_NULL, note=note)


def _place_of_macro(path: PathState, e: ir.CallExpr) -> Place | None:
    """Return the cell of a macro that is used as an lvalue."""
    machine = path.machine
    macro = macro_of(machine, e) if machine.mode.macros_open < MACROS_DEEP else None
    if macro is None or isinstance(macro.body, ir.BlockStmt):
        return None
    before, machine.mode = machine.mode, machine.mode.in_macro()
    place = place_of(path, machine.once(e, lambda: expand(macro, e)))
    machine.mode = before
    return place


PLACES[ir.CallExpr] = _place_of_macro
