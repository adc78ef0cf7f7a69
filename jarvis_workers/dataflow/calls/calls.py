"""Evaluate calls without a followed body: library functions, macros and unknown functions."""

from functools import lru_cache
from typing import NamedTuple

from jarvis_workers.dataflow.calls.callees import callee, own_method
from jarvis_workers.dataflow.calls.null_results import may_be_null, never_null
from jarvis_workers.dataflow.calls.tainting import GivenArgument, with_effects
from jarvis_workers.dataflow.calls.termination import ends_by_declaration, ends_by_pointer, ends_by_signal, ends_program
from jarvis_workers.dataflow.expressions.conditions import branch
from jarvis_workers.dataflow.expressions.elements import forget
from jarvis_workers.dataflow.expressions.evaluate import evaluate, evaluate_all, evaluates
from jarvis_workers.dataflow.expressions.lvalues import PLACES, place_of
from jarvis_workers.dataflow.expressions.macro_expansion import MACROS_DEEP, assertion, expand, is_type, macro_of
from jarvis_workers.dataflow.expressions.narrowing import check_arguments
from jarvis_workers.dataflow.ir.expr import (
    AddressExpr,
    ArrowExpr,
    CallExpr,
    Expression,
    IndexExpr,
    MemberExpr,
    NameExpr,
)
from jarvis_workers.dataflow.ir.stmt import BlockStmt, FunctionMacro
from jarvis_workers.dataflow.library import LIBRARY, Handler, LibraryCall, generated, number_reader, receive, wrapped
from jarvis_workers.dataflow.loops.widening import assume_all_set, assume_assigned
from jarvis_workers.dataflow.memory.pointers import (
    escape,
    escape_inside,
    forget_contents,
    forget_inside,
    used_after_free,
)
from jarvis_workers.dataflow.queries.ast_queries import alias_of, variables_in
from jarvis_workers.dataflow.queries.name_heuristics import (
    asserts,
    is_fatal,
    judges,
    never_returns,
    only_reads,
    prints,
    receives,
    releases,
    words_of,
)
from jarvis_workers.dataflow.state.context import AnalysisContext
from jarvis_workers.dataflow.state.definitions import Callee
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.sizes import limits_of
from jarvis_workers.dataflow.state.types import key_of, type_of
from jarvis_workers.dataflow.state.values import ANY, IS_NULL, MAYBE_NULL, NOT_NULL, Place, Value

USED_BY_SOMEBODY = 0.82
# An allocator whose body is not known, or too long to follow, may end or leave the program without memory.
UNKNOWN_ALLOCATOR = 0.25
# What a pool is called.
POOLS = frozenset(("pool", "arena", "zone", "region", "obstack", "mempool"))
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
PUTS_IN = frozenset(("push_back", "push_front", "push", "insert", "emplace_back", "assign"))
SETTABLE = frozenset((NameExpr, IndexExpr))
HANDS_OUT = frozenset(("back", "front", "top", "at"))


@evaluates(CallExpr)
def _call(path: PathState, e: CallExpr) -> Value:
    path.machine.execution.line = e.line
    done = path.results.pop(id(e), None)
    if done is not None:
        return done
    called = e.callee
    if type(called) is NameExpr:
        return _call_of_name(path, called.name, e)
    if ends_by_pointer(path.machine, called) or path.machine.never_returns(f"*{type_of(path, called)}"):
        evaluate_all(path, e.args)
        path.ended = True
        return ANY
    if isinstance(called, (MemberExpr, ArrowExpr)):
        return _call_of_method(path, called, e)
    return _apply_model(path, "", e)


def _call_of_name(path: PathState, name: str, e: CallExpr) -> Value:
    machine = path.machine
    if name in UNEVALUATED:
        return Value((0, None), checked=True)
    if name in LIBRARY and own_method(path, name) is not None:
        return _apply_model(path, "", e)
    macro = machine.macro(name) if name not in LIBRARY and name not in machine.effects else None
    if not macro or machine.mode.macros_open >= MACROS_DEEP:
        return _apply_model(path, name.removeprefix("std::").removeprefix("::"), e)
    before, machine.mode = machine.mode, machine.mode.in_macro()
    alias = alias_of(macro)
    if alias is not None and alias != name:
        value = _call_of_name(path, alias, machine.once(e, lambda: e._replace(callee=NameExpr("v", alias)), "alias"))
    elif isinstance(macro, FunctionMacro) and macro_of(machine, e) is macro and not isinstance(macro.body, BlockStmt):
        value = evaluate(path, machine.once(e, lambda: expand(macro, e)))
    else:
        value = _apply_model(path, name.removeprefix("std::").removeprefix("::"), e)
    machine.mode = before
    return value


def _place_of_macro(path: PathState, e: CallExpr) -> Place | None:
    """Return the cell of a macro that is used as an lvalue."""
    machine = path.machine
    macro = macro_of(machine, e) if machine.mode.macros_open < MACROS_DEEP else None
    if macro is None or isinstance(macro.body, BlockStmt):
        return None
    before, machine.mode = machine.mode, machine.mode.in_macro()
    place = place_of(path, machine.once(e, lambda: expand(macro, e)))
    machine.mode = before
    return place


PLACES[CallExpr] = _place_of_macro


def _apply_model(path: PathState, name: str, e: CallExpr) -> Value:
    machine, parts, traits = path.machine, e.args, _traits_of(name)
    condition = assertion(name, parts) if traits.checks and parts and name not in machine.effects else None
    if condition is not None:
        _check(path, machine.once(parts, lambda: condition), fatal=is_fatal(name))
        return ANY
    if not traits.prints and name not in LIBRARY:
        for part in parts:
            if type(part) in SETTABLE:
                _maybe_set(path, part)
    before = machine.mode
    if before.passing == traits.prints:
        machine.mode = before._replace(passing=not traits.prints)
    values = evaluate_all(path, parts)
    machine.mode = before
    machine.execution.line = e.line
    if not traits.prints:
        forget(path, None)
    if name not in machine.effects:
        return _modelled(path, name, traits, e, values)
    given = [GivenArgument(part, value) for part, value in zip(parts, values, strict=True)]
    return with_effects(path, e, name, given, lambda: _modelled(path, name, traits, e, values))


def _modelled(path: PathState, name: str, traits: "_NameTraits", e: CallExpr, values: list[Value]) -> Value:
    """Evaluate the call of a function by its model, or as that of an unknown function."""
    machine, parts = path.machine, e.args
    body = callee(path, e) if traits.handler is None or traits.guessed else None
    if traits.ends or ends_by_signal(name, parts) or _never_returns(path, name, body):
        path.ended = True
        return ANY
    handler = traits.handler
    if handler is None or (traits.guessed and _is_something_else(machine, name, parts)):
        return _unknown(path, traits, e, values)
    _set_by_address(path, values)
    value = handler(LibraryCall(path, traits.name, e, values))
    if traits.guessed and parts and _is_pool(path, parts[0]):
        escape(path, value)
    if value.null != MAYBE_NULL:
        return value
    if body is not None and never_null(machine, body, values):
        return value._replace(null=NOT_NULL)
    is_known = body is not None and may_be_null(machine, body, values)
    if traits.guessed and not is_known and value.why is not None:
        return value._replace(why=value.why._replace(doubt=UNKNOWN_ALLOCATOR))
    return value


def _is_something_else(machine: AnalysisContext, name: str, parts: tuple[Expression, ...]) -> bool:
    """Return whether a call differs from that of the library function that its name resembles.

    It does if it gets a place for its result, or if it is the call of a macro of unknown definition.
    """
    return (bool(parts) and type(parts[0]) is AddressExpr) or any(map(is_type, parts)) or machine.is_unknown_macro(name)


def _is_pool(path: PathState, first: Expression) -> bool:
    """Return whether an allocator gets a pool, which releases all that it has allocated."""
    kind = type_of(path, first) or ""
    names = [first.member] if isinstance(first, (MemberExpr, ArrowExpr)) else sorted(variables_in((first,)))
    return kind.endswith("*") and not POOLS.isdisjoint(word for name in (kind, *names) for word in words_of(name))


def _never_returns(path: PathState, name: str, body: Callee | None) -> bool:
    machine = path.machine
    if body is not None:
        return ends_program(machine, body)
    pointer = path.frame.types.get(name)
    if pointer is not None:
        return machine.never_returns(f"*{pointer.kind}")
    if name in LIBRARY:
        return False
    return ends_by_declaration(machine, name)


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
    checks, printing, ends = asserts(name), prints(name), never_returns(name)
    reads, releasing = only_reads(name), releases(name)
    if name.isupper() and name not in LIBRARY and name.lower() in LIBRARY:
        name = name.lower()
    guessed = name not in LIBRARY
    handler = (wrapped(name) or generated(name) or number_reader(name)) if guessed else LIBRARY[name]
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


def drop(path: PathState, e: CallExpr) -> None:
    """Evaluate a call whose result is ignored: nothing is lost if only its name says that it allocates."""
    value = evaluate(path, e)
    if value.target and isinstance(e.callee, NameExpr) and e.callee.name not in LIBRARY and callee(path, e) is None:
        escape(path, value)


def _check(path: PathState, condition: Expression, *, fatal: bool) -> None:
    """Continue on the path where the condition of a check holds; none does after a fatal one that fails."""
    yes, _ = branch(path.copy(), condition, None)
    if yes:
        path.cells, path.objects, path.facts = yes[0].cells, yes[0].objects, yes[0].facts
    elif fatal:
        path.ended = True


def _maybe_set(path: PathState, part: Expression) -> None:
    """Treat an unset variable, or struct in an array, as set: a call may be a macro that assigns to its arguments."""
    if type(part) is NameExpr:
        cell = (key_of(path, part.name), "")
        current = path.cells.get(cell)
        if current is not None and current.unset:
            path.cells[cell] = ANY
    elif type(part) is IndexExpr and type(part.base) is NameExpr:
        kind, key = type_of(path, part), key_of(path, part.base.name)
        target = path.objects.get(key)
        if target is not None and kind and not kind.endswith("*") and limits_of(path.machine.plain(kind)) is None:
            path.objects[key] = target._replace(unset_from=None)


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
    name = traits.name
    # Who gets the address of a member may find the whole object, and release it later; so may a callback.
    has_callback = any([value.code and value.target is None for value in values])
    if name and path.machine.type_named(name):
        return Value(kind=name, null=NOT_NULL)
    if name.isupper():
        assume_all_set(path)
        assume_assigned(path, e)
    if traits.judges:
        check_arguments(path, e.args)
    for part, value in zip(e.args, values, strict=True):
        if value.target is not None:
            _give(path, traits, part, value, e.line, keeps=has_callback or bool(value.code))
        elif isinstance(part, NameExpr) and not traits.reads:
            # It may be a struct that is passed by value.
            escape_inside(path, key_of(path, part.name))
    if traits.receives:
        receive(LibraryCall(path, name, e, values))
    return Value(kind="#" + name) if name.isupper() else ANY


def _give(path: PathState, traits: _NameTraits, part: Expression, value: Value, line: int, *, keeps: bool) -> None:
    """Pass a pointer to an unknown function, which may keep it."""
    key, reads = value.target or "", traits.reads
    target = path.objects.get(key)
    if target is not None and target.freed is not None and target.kind in ("heap", "other") and not traits.releases:
        if not traits.name.isupper():
            used_after_free(path, part, value, line, sure=USED_BY_SOMEBODY)
        return
    if keeps or not reads:
        escape(path, value)
    if not reads:
        escape_inside(path, key)
        forget_inside(path, key)
    elif target is not None and not target.lent:
        path.objects[key] = path.objects[key]._replace(lent=True)
    forget_contents(path, key, keep=reads)


def _call_of_method(path: PathState, method: MemberExpr | ArrowExpr, e: CallExpr) -> Value:
    """Evaluate a call of a method without a body; containers return the value that was inserted last."""
    current = evaluate(path, method.base)
    values = evaluate_all(path, e.args)
    name = f".{method.member}"
    if name not in path.machine.effects:
        return _modelled_method(path, method, current, values)
    parts = zip((method.base, *e.args), (current, *values), strict=True)
    given = [GivenArgument(part, value) for part, value in parts]
    return with_effects(path, e, name, given, lambda: _modelled_method(path, method, current, values))


def _modelled_method(path: PathState, method: MemberExpr | ArrowExpr, current: Value, values: list[Value]) -> Value:
    name = method.member
    place = place_of(path, method.base) if isinstance(method, MemberExpr) else None
    key, part = place or (current.target or "", "")
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
