"""Evaluate calls without a followed body: library functions, macros and unknown functions."""

from functools import lru_cache
from typing import Any, NamedTuple

from jarvis_workers.dataflow.checks import check_arguments
from jarvis_workers.dataflow.conditions import branch
from jarvis_workers.dataflow.evaluate import evaluate, evaluate_all, evaluates
from jarvis_workers.dataflow.ir.decode import replaced
from jarvis_workers.dataflow.ir.expr import AddressExpr, ArrowExpr, CallExpr, Expression, MemberExpr, NameExpr
from jarvis_workers.dataflow.ir.stmt import FunctionMacro
from jarvis_workers.dataflow.library import LIBRARY, Handler, LibraryCall, number_reader, receive, wrapped
from jarvis_workers.dataflow.lvalues import PLACES, place_of
from jarvis_workers.dataflow.name_heuristics import (
    CHECKS,
    INVERSE_CHECKS,
    judges,
    never_returns,
    only_reads,
    prints,
    receives,
    releases,
)
from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.pointers import escape, escape_inside, forget_contents, used_after_free
from jarvis_workers.dataflow.types import key_of
from jarvis_workers.dataflow.values import ANY, IS_NULL, NOT_NULL, Place, Value
from jarvis_workers.dataflow.widening import assume_all_set

MACROS_DEEP = 6
USED_BY_SOMEBODY = 0.82
PUTS_IN = frozenset(("push_back", "push_front", "push", "insert", "emplace_back", "assign"))
HANDS_OUT = frozenset(("back", "front", "top", "at"))


@evaluates(CallExpr)
def _call(path: PathState, e: CallExpr) -> Value:
    path.machine.line = e.line
    done = path.results.pop(id(e), None)
    if done is not None:
        return done
    callee = e.callee
    if type(callee) is NameExpr:
        return _call_of_name(path, callee.name, e)
    if isinstance(callee, (MemberExpr, ArrowExpr)):
        return _call_of_method(path, callee, e)
    return _apply_model(path, "", e)


def _call_of_name(path: PathState, name: str, e: CallExpr) -> Value:
    machine = path.machine
    macro = machine.macro(name) if name not in LIBRARY else None
    if not macro or machine.macros_open >= MACROS_DEEP:
        return _apply_model(path, name.removeprefix("std::").removeprefix("::"), e)
    machine.macros_open += 1
    if isinstance(macro, NameExpr) and macro.name != name:
        value = _call_of_name(path, macro.name, machine.once(e, lambda: e._replace(callee=macro)))
    elif isinstance(macro, FunctionMacro):
        value = evaluate(path, machine.once(e, lambda: _expand(macro, e)))
    else:
        value = _apply_model(path, name.removeprefix("std::").removeprefix("::"), e)
    machine.macros_open -= 1
    return value


def _place_of_macro(path: PathState, e: CallExpr) -> Place | None:
    """Return the cell of a macro that expands to an lvalue."""
    machine = path.machine
    macro = machine.macro(e.callee.name) if isinstance(e.callee, NameExpr) and e.callee.name not in LIBRARY else None
    if not isinstance(macro, FunctionMacro) or machine.macros_open >= MACROS_DEEP:
        return None
    machine.macros_open += 1
    place = place_of(path, machine.once(e, lambda: _expand(macro, e)))
    machine.macros_open -= 1
    return place


PLACES[CallExpr] = _place_of_macro


def _expand(macro: FunctionMacro, e: CallExpr) -> Expression:
    """Return the body of a macro with its arguments substituted, on the line of its use."""
    options = dict(zip(macro.params, e.args, strict=False))

    def fill(part: Any) -> Any:
        if not isinstance(part, tuple):
            return part
        if isinstance(part, NameExpr) and part.name in options:
            return options[part.name]
        filled = replaced(part, [fill(one) for one in part])
        return filled._replace(line=e.line) if isinstance(filled, CallExpr) else filled

    body: Expression = fill(macro.body)
    return body


def _apply_model(path: PathState, name: str, e: CallExpr) -> Value:
    machine, parts, traits = path.machine, e.args, _traits_of(name)
    if traits.checks and parts:
        _check(path, name, parts[0])
        return ANY
    if not traits.prints and name not in LIBRARY:
        for part in parts:
            _maybe_set(path, part)
    passing, machine.passing = machine.passing, not traits.prints
    values = evaluate_all(path, parts)
    machine.passing = passing
    machine.line = e.line
    if traits.ends:
        path.ended = True
        return ANY
    handler = traits.handler
    if handler is None or (traits.guessed and parts and type(parts[0]) is AddressExpr):
        return _unknown(path, traits, e, values)
    _set_by_address(path, values)
    return handler(LibraryCall(path, traits.name, e, values))


class _NameTraits(NamedTuple):
    """Properties inferred from a function's name; `guessed` means that it only resembles that of a library function."""

    name: str
    handler: Handler | None
    guessed: bool
    checks: bool
    prints: bool
    reads: bool
    receives: bool
    judges: bool
    releases: bool
    ends: bool


@lru_cache(8192)
def _traits_of(name: str) -> _NameTraits:
    checks, printing, ends = name in CHECKS, prints(name), never_returns(name)
    reads, releasing = only_reads(name), releases(name)
    if name.isupper() and name not in LIBRARY and name.lower() in LIBRARY:
        name = name.lower()
    guessed = name not in LIBRARY
    handler = wrapped(name) or number_reader(name) if guessed else LIBRARY[name]
    return _NameTraits(
        name,
        handler,
        guessed,
        checks,
        printing,
        reads,
        receives(name),
        name.isupper() or judges(name),
        releasing,
        ends,
    )


def _check(path: PathState, name: str, condition: Expression) -> None:
    """Continue on the paths where the argument of an assertion holds."""
    yes, no = branch(path.copy(), condition, None)
    sides = no if name in INVERSE_CHECKS else yes
    if not sides:
        path.ended = True
    else:
        path.cells, path.objects, path.facts = sides[0].cells, sides[0].objects, sides[0].facts


def _maybe_set(path: PathState, part: Expression) -> None:
    """Treat an unset variable as set: a call may be a macro that assigns to its arguments."""
    if type(part) is NameExpr:
        cell = (key_of(path, part.name), "")
        current = path.cells.get(cell)
        if current is not None and current.unset:
            path.cells[cell] = ANY


def _set_by_address(path: PathState, values: list[Value]) -> None:
    """Treat variables whose address is passed as set."""
    for value in values:
        cell = (value.target or "", value.code or "")
        current = path.cells.get(cell)
        if current is not None and value.target not in path.objects and (current.unset or current.null == IS_NULL):
            path.cells[cell] = ANY


def _unknown(path: PathState, traits: _NameTraits, e: CallExpr, values: list[Value]) -> Value:
    """Evaluate a call of an unknown function: it may modify and retain its arguments unless its name implies otherwise.

    A name in capitals is a macro, which may assign to any variable.
    """
    name, reads = traits.name, traits.reads
    if name and path.machine.type_named(name):
        return Value(kind=name, null=NOT_NULL)
    if name.isupper():
        assume_all_set(path)
        _may_assign(path, e.args)
    if traits.judges:
        check_arguments(path, e.args)
    for part, value in zip(e.args, values, strict=True):
        if value.target is None:
            continue
        target = path.objects.get(value.target)
        if target is not None and target.freed is not None and target.kind in ("heap", "other") and not traits.releases:
            used_after_free(path, part, value, e.line, sure=USED_BY_SOMEBODY)
            continue
        if not reads:
            escape(path, value)
            escape_inside(path, value.target)
        forget_contents(path, value.target, keep=reads)
    if traits.receives:
        receive(LibraryCall(path, name, e, values))
    return Value(kind="#" + name) if name.isupper() else ANY


def _may_assign(path: PathState, parts: tuple[Expression, ...]) -> None:
    """Treat NULL variables as unknown: a macro may assign to its arguments."""
    for part in parts:
        if type(part) is NameExpr:
            cell = (key_of(path, part.name), "")
            current = path.cells.get(cell)
            if current is not None and current.null == IS_NULL:
                path.cells[cell] = ANY


def _call_of_method(path: PathState, method: MemberExpr | ArrowExpr, e: CallExpr) -> Value:
    """Evaluate a call of a method without a body; containers return the value that was inserted last."""
    current = evaluate(path, method.base)
    values = evaluate_all(path, e.args)
    place = place_of(path, method.base) if isinstance(method, MemberExpr) else None
    key, part = place or (current.target or "", "")
    name = method.member
    if name in PUTS_IN and values:
        path.cells[key, part + "[]"] = values[-1]
        return ANY
    if name in HANDS_OUT and (key, part + "[]") in path.cells:
        return path.cells[key, part + "[]"]
    for value in values:
        if value.target:
            escape(path, value)
            forget_contents(path, value.target, keep=False)
    return ANY
