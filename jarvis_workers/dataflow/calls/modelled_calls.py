"""Calls of functions by their models, or by that of a library function with a similar name."""

from jarvis_workers.dataflow.calls.callees import callee
from jarvis_workers.dataflow.calls.null_results import may_be_null, never_null
from jarvis_workers.dataflow.calls.tainting import GivenArgument, with_effects
from jarvis_workers.dataflow.calls.termination import ends_by_signal, never_returns_to
from jarvis_workers.dataflow.calls.unknown_calls import NameTraits, call_unknown, maybe_set, set_by_address, traits_of
from jarvis_workers.dataflow.expressions.conditions import check_assertion
from jarvis_workers.dataflow.expressions.elements import forget
from jarvis_workers.dataflow.expressions.evaluate import evaluate_all
from jarvis_workers.dataflow.expressions.macro_expansion import is_type
from jarvis_workers.dataflow.ir.expr import (
    AddressExpr,
    ArrowExpr,
    CallExpr,
    Expression,
    IndexExpr,
    MemberExpr,
    NameExpr,
)
from jarvis_workers.dataflow.library import LIBRARY, LibraryCall, perform
from jarvis_workers.dataflow.memory.pointers import escape
from jarvis_workers.dataflow.queries.ast_queries import variables_in
from jarvis_workers.dataflow.queries.name_heuristics import words_of
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.types import type_of
from jarvis_workers.dataflow.state.values import ANY, MAYBE_NULL, NOT_NULL, Value

# An allocator whose body is not known, or too long to follow, may end or leave the program without memory.
UNKNOWN_ALLOCATOR = 0.25
SETTABLE = frozenset((NameExpr, IndexExpr))
# What a pool is called.
POOLS = frozenset(("pool", "arena", "zone", "region", "obstack", "mempool"))


def apply_model(path: PathState, name: str, e: CallExpr) -> Value:
    machine, parts, traits = path.machine, e.args, traits_of(name)
    if traits.checks and parts and name not in machine.effects and check_assertion(path, name, parts):
        return ANY
    if not traits.prints and name not in LIBRARY:
        for part in parts:
            if type(part) in SETTABLE:
                maybe_set(path, part)
    before = machine.mode
    if before.passing == traits.prints:
        machine.mode = before._replace(passing=not traits.prints)
    values = evaluate_all(path, parts)
    machine.mode = before
    machine.execution.line = e.line
    if not traits.prints:
        forget(path, None)
    if name not in machine.effects:
        return _call_modelled(path, name, traits, e, values)
    given = [GivenArgument(part, value) for part, value in zip(parts, values, strict=True)]
    return with_effects(path, e, name, given, lambda: _call_modelled(path, name, traits, e, values))


def _call_modelled(path: PathState, name: str, traits: NameTraits, e: CallExpr, values: list[Value]) -> Value:
    """Evaluate the call of a function by its model, or as that of an unknown function."""
    machine, parts = path.machine, e.args
    body = callee(path, e) if traits.handler is None or traits.guessed else None
    if traits.ends or ends_by_signal(name, parts) or never_returns_to(path, name, body):
        path.ended = True
        return ANY
    handler = traits.handler
    if handler is None or (traits.guessed and _is_something_else(path, name, parts)):
        return call_unknown(path, traits, e, values)
    set_by_address(path, values)
    value = perform(handler, LibraryCall(path, traits.name, e, values))
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


def _is_something_else(path: PathState, name: str, parts: tuple[Expression, ...]) -> bool:
    """Return whether a call differs from that of the library function that its name resembles.

    It does if it gets a place for its result, or if it is the call of a macro of unknown definition.
    """
    return (
        (bool(parts) and type(parts[0]) is AddressExpr)
        or any(map(is_type, parts))
        or path.machine.is_unknown_macro(name)
    )


def _is_pool(path: PathState, first: Expression) -> bool:
    """Return whether an allocator gets a pool, which releases all that it has allocated."""
    kind = type_of(path, first) or ""
    names = [first.member] if isinstance(first, (MemberExpr, ArrowExpr)) else sorted(variables_in((first,)))
    return kind.endswith("*") and not POOLS.isdisjoint(word for name in (kind, *names) for word in words_of(name))
