"""Calls of functions and methods of which only the name is known: what they may change, keep and check."""

from functools import lru_cache
from typing import NamedTuple

from jarvis_workers.dataflow.calls.callees import callee
from jarvis_workers.dataflow.calls.tainting import GivenArgument, with_effects
from jarvis_workers.dataflow.expressions.evaluate import evaluate, evaluate_all
from jarvis_workers.dataflow.expressions.lvalues import place_of
from jarvis_workers.dataflow.expressions.narrowing import check_arguments
from jarvis_workers.dataflow.ir.expr import ArrowExpr, CallExpr, Expression, IndexExpr, MemberExpr, NameExpr
from jarvis_workers.dataflow.library import LIBRARY, Handler, LibraryCall, generated, number_reader, receive, wrapped
from jarvis_workers.dataflow.loops.widening import assume_all_set, assume_assigned
from jarvis_workers.dataflow.memory.pointers import (
    escape,
    escape_inside,
    forget_contents,
    forget_inside,
    used_after_free,
)
from jarvis_workers.dataflow.queries.name_heuristics import (
    asserts,
    judges,
    never_returns,
    only_reads,
    prints,
    receives,
    releases,
)
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.sizes import limits_of
from jarvis_workers.dataflow.state.types import key_of, type_of
from jarvis_workers.dataflow.state.values import ANY, IS_NULL, NOT_NULL, Value

PUTS_IN = frozenset(("push_back", "push_front", "push", "insert", "emplace_back", "assign"))
HANDS_OUT = frozenset(("back", "front", "top", "at"))


class NameTraits(NamedTuple):
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
def traits_of(name: str) -> NameTraits:
    checks, printing, ends = asserts(name), prints(name), never_returns(name)
    reads, releasing = only_reads(name), releases(name)
    if name.isupper() and name not in LIBRARY and name.lower() in LIBRARY:
        name = name.lower()
    guessed = name not in LIBRARY
    handler = (wrapped(name) or generated(name) or number_reader(name)) if guessed else LIBRARY[name]
    return NameTraits(
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


def maybe_set(path: PathState, part: Expression) -> None:
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


def set_by_address(path: PathState, values: list[Value]) -> None:
    """Treat variables whose address is passed as set."""
    for value in values:
        cell = (value.target or "", value.code or "")
        current = path.cells.get(cell)
        if current is not None and value.target not in path.objects and (current.unset or current.null == IS_NULL):
            path.cells[cell] = ANY


def call_unknown(path: PathState, traits: NameTraits, e: CallExpr, values: list[Value]) -> Value:
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


def _give(path: PathState, traits: NameTraits, part: Expression, value: Value, line: int, *, keeps: bool) -> None:
    """Pass a pointer to an unknown function, which may keep it."""
    key, reads = value.target or "", traits.reads
    target = path.objects.get(key)
    if target is not None and target.freed is not None and target.kind in ("heap", "other") and not traits.releases:
        if not traits.name.isupper():
            used_after_free(path, part, value, line, is_certain=False)
        return
    if keeps or not reads:
        escape(path, value)
    if not reads:
        escape_inside(path, key)
        forget_inside(path, key)
    elif target is not None and not target.lent:
        path.objects[key] = path.objects[key]._replace(lent=True)
    forget_contents(path, key, keep=reads)


def call_method(path: PathState, method: MemberExpr | ArrowExpr, e: CallExpr) -> Value:
    """Evaluate a call of a method without a body; containers return the value that was inserted last."""
    current = evaluate(path, method.base)
    values = evaluate_all(path, e.args)
    name = f".{method.member}"
    if name not in path.machine.effects:
        return _call_unknown_method(path, method, current, values)
    parts = zip((method.base, *e.args), (current, *values), strict=True)
    given = [GivenArgument(part, value) for part, value in parts]
    return with_effects(path, e, name, given, lambda: _call_unknown_method(path, method, current, values))


def _call_unknown_method(path: PathState, method: MemberExpr | ArrowExpr, current: Value, values: list[Value]) -> Value:
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


def drop(path: PathState, e: CallExpr) -> None:
    """Evaluate a call whose result is ignored: nothing is lost if only its name says that it allocates."""
    value = evaluate(path, e)
    if value.target and isinstance(e.callee, NameExpr) and e.callee.name not in LIBRARY and callee(path, e) is None:
        escape(path, value)
