"""Calls of functions and methods of which only the name is known: what they may change, keep and check."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from jarvis_workers.dataflow.calls.argument_effects import maybe_set, set_by_address
from jarvis_workers.dataflow.calls.callees import callee, object_behind
from jarvis_workers.dataflow.calls.tainting import GivenArgument, with_effects
from jarvis_workers.dataflow.calls.termination import ends_by_argument, never_returns_to
from jarvis_workers.dataflow.execution.interpreter import follow_body
from jarvis_workers.dataflow.expressions.assignments import declare
from jarvis_workers.dataflow.expressions.conditions import check_assertion
from jarvis_workers.dataflow.expressions.evaluate import StepLimitReached, evaluate, evaluate_all
from jarvis_workers.dataflow.expressions.lvalues import place_of
from jarvis_workers.dataflow.expressions.macro_expansion import is_type
from jarvis_workers.dataflow.expressions.narrowing import check_arguments
from jarvis_workers.dataflow.expressions.value_numbering import forget
from jarvis_workers.dataflow.ir.expr import (
    AddressExpr,
    ArrowExpr,
    CallExpr,
    Expression,
    IndexExpr,
    MemberExpr,
    NameExpr,
)
from jarvis_workers.dataflow.library import (
    LIBRARY,
    Handler,
    LibraryCall,
    generated,
    number_reader,
    perform,
    receive,
    wrapped,
)
from jarvis_workers.dataflow.loops.widening import assume_all_set, assume_assigned
from jarvis_workers.dataflow.memory.ownership import is_own
from jarvis_workers.dataflow.memory.pointers import (
    escape,
    escape_inside,
    forget_contents,
    forget_inside,
    forget_reachable,
    used_after_free,
)
from jarvis_workers.dataflow.queries.ast_queries import variables_in
from jarvis_workers.dataflow.queries.name_heuristics import (
    asserts,
    hands_over,
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
from jarvis_workers.dataflow.state.path import Frame, PathState
from jarvis_workers.dataflow.state.ranges import is_exact
from jarvis_workers.dataflow.state.types import key_of, type_of
from jarvis_workers.dataflow.state.values import ANY, MAYBE_NULL, NOT_NULL, NULL, UNKNOWN, Range, Value

# Whether a function never returns NULL, or does at times: its body is executed apart from any path to it.

# The number of steps that such an execution may take.
STEPS_MAX = 80


def never_null(machine: AnalysisContext, callee: Callee, args: Sequence[Value]) -> bool:
    """Return whether every path through a function returns a pointer that is not NULL, given the constants passed."""
    return _holds(machine, "never NULL", callee, args, _are_pointers)


def may_be_null(machine: AnalysisContext, callee: Callee, args: Sequence[Value]) -> bool:
    """Return whether a path through a function is known to return NULL, or what an allocator returns, untested."""
    return _holds(machine, "may be NULL", callee, args, _are_null_at_times)


def _holds(
    machine: AnalysisContext, what: str, callee: Callee, args: Sequence[Value], test: Callable[[list[Value]], bool]
) -> bool:
    function, _ = callee
    given = tuple([one.range if is_exact(one.range) and one.target is None else UNKNOWN for one in args])
    name = f"{what} {given}" if any(one != UNKNOWN for one in given) else what
    return machine.property_of(name, function, lambda: test(_results(machine, callee, given)))


def _are_pointers(results: list[Value]) -> bool:
    return bool(results) and all(one.null == NOT_NULL for one in results)


def _are_null_at_times(results: list[Value]) -> bool:
    return any(one.null > NOT_NULL for one in results)


def _results(machine: AnalysisContext, callee: Callee, given: Sequence[Range]) -> list[Value]:
    """Return what the paths through a function return; an unknown value if not all of them were executed."""
    function, file = callee
    with machine.aside(STEPS_MAX):
        machine.frames += 1
        path = PathState(machine, Frame(function, machine.frames))
        path.frame.file = file
        for place, (name, kind, *_) in enumerate(function.params):
            declare(path, name, kind)
            path.cells[path.frame.key(name), ""] = Value(given[place]) if place < len(given) else ANY
        try:
            results = [one.returned for one in follow_body(path)]
        except (StepLimitReached, RecursionError):
            return [ANY]
        return [*results, ANY] if machine.execution.pruned else results


# The kinds of objects that may end while pointers to them remain.
MORTAL = frozenset(("heap", "other", "stack"))
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
        if value.null > NOT_NULL and value.why is not None and value.why.file is None:
            # The function may use what may be NULL.
            path.machine.prove("followed_null", value.why.line, holds=False)
        if value.target is not None:
            _give(path, traits, part, value, e.line, keeps=has_callback or bool(value.code))
        elif isinstance(part, NameExpr) and not traits.reads:
            # It may be a struct that is passed by value.
            escape_inside(path, key_of(path, part.name))
    if traits.receives:
        receive(LibraryCall(path, name, e, values))
    if hands_over(name) and len(values) == 1 and type(e.args[0]) is NameExpr:
        # The macro sets its argument to NULL.
        path.cells[key_of(path, e.args[0].name), ""] = NULL
        return values[0]
    return Value(kind="#" + name) if name.isupper() else ANY


def _give(path: PathState, traits: NameTraits, part: Expression, value: Value, line: int, *, keeps: bool) -> None:
    """Pass a pointer to an unknown function, which may keep it."""
    key, reads = value.target or "", traits.reads
    target = path.objects.get(key)
    if target is not None and target.freed is not None and target.kind in MORTAL and not traits.releases:
        if not traits.name.isupper():
            used_after_free(path, part, value, line, is_certain=False)
        return
    if keeps or not reads:
        escape(path, value)
    if not reads:
        escape_inside(path, key)
        forget_inside(path, key)
        forget_reachable(path, key)
    elif target is not None and not target.lent:
        path.objects[key] = path.objects[key]._replace(lent=True)
    forget_contents(path, key, keep=reads)


def call_method(path: PathState, method: MemberExpr | ArrowExpr, e: CallExpr) -> Value:
    """Evaluate a call of a method without a body; containers return the value that was inserted last."""
    current = object_behind(path, method, e.line) if isinstance(method, ArrowExpr) else evaluate(path, method.base)
    if path.machine.is_cpp:
        # It may take references, and keep a copy of a struct.
        for part in e.args:
            maybe_set(path, part)
            if type(part) is NameExpr:
                escape_inside(path, key_of(path, part.name))
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
        if not is_own(path, (key, part)) or "_ptr<" in (type_of(path, method.base) or ""):
            # The container outlives the function, or owns its elements.
            escape(path, values[-1])
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


# Calls of functions by their models, or by that of a library function with a similar name.

# An allocator whose body is not known, or too long to follow, may end or leave the program without memory.
UNKNOWN_ALLOCATOR = 0.25
SETTABLE = frozenset((NameExpr, IndexExpr, MemberExpr, ArrowExpr))
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
    if not traits.prints and not traits.reads:
        forget(path, None)
    if name not in machine.effects:
        return _call_modelled(path, name, traits, e, values)
    given = [GivenArgument(part, value) for part, value in zip(parts, values, strict=True)]
    return with_effects(path, e, name, given, lambda: _call_modelled(path, name, traits, e, values))


def _call_modelled(path: PathState, name: str, traits: NameTraits, e: CallExpr, values: list[Value]) -> Value:
    """Evaluate the call of a function by its model, or as that of an unknown function."""
    machine, parts = path.machine, e.args
    body = callee(path, e) if traits.handler is None or traits.guessed else None
    if traits.ends or ends_by_argument(name, parts) or never_returns_to(path, name, body):
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
    if path.frame.depth == 0 and not machine.mode.quiet:
        machine.prove("followed_null", e.line, holds=True)
    if body is not None and never_null(machine, body, values):
        return value._replace(null=NOT_NULL)
    is_known = body is not None and may_be_null(machine, body, values)
    if traits.guessed and not is_known and value.why is not None:
        return value._replace(why=value.why._replace(doubt=UNKNOWN_ALLOCATOR))
    return value


def _is_something_else(path: PathState, name: str, parts: tuple[Expression, ...]) -> bool:
    """Return whether a call differs from that of the library function that its name resembles.

    It does if it gets a place for its result, is declared with a number as its result, or is a macro of unknown
    definition.
    """
    return (
        (bool(parts) and type(parts[0]) is AddressExpr)
        or any(map(is_type, parts))
        or path.machine.never_returns(f"#{name}")
        or path.machine.is_unknown_macro(name)
    )


def _is_pool(path: PathState, first: Expression) -> bool:
    """Return whether an allocator gets a pool, which releases all that it has allocated."""
    kind = type_of(path, first) or ""
    names = [first.member] if isinstance(first, (MemberExpr, ArrowExpr)) else sorted(variables_in((first,)))
    return kind.endswith("*") and not POOLS.isdisjoint(word for name in (kind, *names) for word in words_of(name))
