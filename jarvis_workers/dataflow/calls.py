"""Carry out calls whose bodies are not followed: of the library, of macros, and of functions that nobody knows."""

from functools import lru_cache
from typing import Any, NamedTuple

from jarvis_workers.dataflow.conditions import branch
from jarvis_workers.dataflow.evaluate import evaluate, evaluate_all, evaluates
from jarvis_workers.dataflow.library import LIBRARY, Handler, LibraryCall, wrapped
from jarvis_workers.dataflow.lvalues import place_of
from jarvis_workers.dataflow.name_heuristics import CHECKS, INVERSE_CHECKS, never_returns, only_reads, prints, releases
from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.pointers import escape, escape_inside, forget_contents, used_after_free
from jarvis_workers.dataflow.types import key_of
from jarvis_workers.dataflow.values import ANY, IS_NULL, NOT_NULL, Expression, Value
from jarvis_workers.dataflow.widening import assume_all_set

MACROS_DEEP = 4
USED_BY_SOMEBODY = 0.82
PUTS_IN = frozenset(("push_back", "push_front", "push", "insert", "emplace_back", "assign"))
HANDS_OUT = frozenset(("back", "front", "top", "at"))


@evaluates("c")
def _call(path: PathState, e: Expression) -> Value:
    path.machine.line = e[3]
    done = path.results.pop(id(e), None)
    if done is not None:
        return done
    if e[1][0] in (".", "->"):
        return _call_of_method(path, e)
    return _call_of_name(path, e) if e[1][0] == "v" else _carried_out(path, "", e)


def _call_of_name(path: PathState, e: Expression) -> Value:
    machine, name = path.machine, e[1][1]
    macro = machine.macro(name) if name not in LIBRARY else None
    if not macro or machine.macros_open >= MACROS_DEEP:
        return _carried_out(path, name.removeprefix("std::").removeprefix("::"), e)
    machine.macros_open += 1
    if macro[0] == "v" and macro[1] != name:
        value = _call_of_name(path, machine.once(e, lambda: ["c", macro, e[2], e[3]]))
    elif isinstance(macro[0], list):
        value = evaluate(path, machine.once(e, lambda: _filled_in(macro, e)))
    else:
        value = _carried_out(path, name.removeprefix("std::").removeprefix("::"), e)
    machine.macros_open -= 1
    return value


def _filled_in(macro: list[Any], e: Expression) -> Expression:
    """Return the body of a macro with its arguments in it, on the line of its use."""
    given = dict(zip(macro[0], e[2], strict=False))

    def fill(part: Any) -> Any:
        if not isinstance(part, list):
            return part
        if len(part) == 2 and part[0] == "v" and part[1] in given:
            return given[part[1]]
        filled = [fill(one) for one in part]
        if len(filled) == 4 and filled[0] == "c":
            filled[3] = e[3]
        return filled

    body: Expression = fill(macro[1])
    return body


def _carried_out(path: PathState, name: str, e: Expression) -> Value:
    machine, parts, by_name = path.machine, e[2], _told_by(name)
    if by_name.checks and parts:
        _check(path, name, parts[0])
        return ANY
    if not by_name.prints and name not in LIBRARY:
        for part in parts:
            _maybe_set(path, part)
    passing, machine.passing = machine.passing, not by_name.prints
    values = evaluate_all(path, parts)
    machine.passing = passing
    machine.line = e[3]
    if by_name.ends:
        path.ended = True
        return ANY
    handler = by_name.handler
    if handler is None or (by_name.guessed and parts and parts[0] and parts[0][0] == "&"):
        return _unknown(path, by_name, e, values)
    _set_by_address(path, values)
    return handler(LibraryCall(path, by_name.name, e, values))


class _Told(NamedTuple):
    """What a name tells of a function; `guessed` means that it is like one of the library, and is none."""

    name: str
    handler: Handler | None
    guessed: bool
    checks: bool
    prints: bool
    reads: bool
    releases: bool
    ends: bool


@lru_cache(8192)
def _told_by(name: str) -> _Told:
    checks, printing, ends = name in CHECKS, prints(name), never_returns(name)
    reads, releasing = only_reads(name), releases(name)
    if name.isupper() and name not in LIBRARY and name.lower() in LIBRARY:
        name = name.lower()
    guessed = name not in LIBRARY
    handler = wrapped(name) if guessed else LIBRARY[name]
    return _Told(name, handler, guessed, checks, printing, reads, releasing, ends)


def _check(path: PathState, name: str, condition: Expression) -> None:
    """Go on where the argument of an assertion holds."""
    yes, no = branch(path.copy(), condition, None)
    sides = no if name in INVERSE_CHECKS else yes
    if sides:
        path.cells, path.objects, path.facts = sides[0].cells, sides[0].objects, sides[0].facts


def _maybe_set(path: PathState, part: Expression) -> None:
    """What looks like a call may be a macro that sets its arguments."""
    if part and part[0] == "v":
        cell = (key_of(path, part[1]), "")
        held = path.cells.get(cell)
        if held is not None and held.unset:
            path.cells[cell] = ANY


def _set_by_address(path: PathState, values: list[Value]) -> None:
    """Who gets the address of a variable sets it."""
    for value in values:
        cell = (value.target or "", value.code or "")
        held = path.cells.get(cell)
        if held is not None and value.target not in path.objects and (held.unset or held.null == IS_NULL):
            path.cells[cell] = ANY


def _unknown(path: PathState, by_name: _Told, e: Expression, values: list[Value]) -> Value:
    """Carry out a call of which nothing is known: what it is given it may write to and keep, if its name allows.

    A name in capitals is that of a macro, which may set any variable.
    """
    name, reads = by_name.name, by_name.reads
    if name and path.machine.type_named(name):
        return Value(kind=name, null=NOT_NULL)
    if name.isupper():
        assume_all_set(path)
        _may_assign(path, e[2])
    for part, value in zip(e[2], values, strict=True):
        if value.target is None:
            continue
        target = path.objects.get(value.target)
        if (
            target is not None
            and target.freed is not None
            and target.kind in ("heap", "other")
            and not by_name.releases
        ):
            used_after_free(path, part, value, e[3], sure=USED_BY_SOMEBODY)
            continue
        if not reads:
            escape(path, value)
            escape_inside(path, value.target)
        forget_contents(path, value.target, keep=reads)
    return Value(kind="#" + name) if name.isupper() else ANY


def _may_assign(path: PathState, parts: list[Expression]) -> None:
    """A macro may assign to its arguments."""
    for part in parts:
        if part and part[0] == "v":
            cell = (key_of(path, part[1]), "")
            held = path.cells.get(cell)
            if held is not None and held.null == IS_NULL:
                path.cells[cell] = ANY


def _call_of_method(path: PathState, e: Expression) -> Value:
    """Carry out a call of a method whose body is not known; containers hand back what was put in."""
    held = evaluate(path, e[1][1])
    values = evaluate_all(path, e[2])
    place = place_of(path, e[1][1]) if e[1][0] == "." else None
    key, part = place or (held.target or "", "")
    name = e[1][2]
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
