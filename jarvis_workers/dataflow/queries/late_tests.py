"""Pointers that a function dereferences before it tests them for NULL, found in the order of its statements."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.queries.ast_queries import (
    CONDITIONAL,
    HOLLOW,
    OWN_PARTS,
    assigned,
    bodies,
    compared_with_constant,
    walk,
)
from jarvis_workers.dataflow.queries.name_heuristics import listed

UNEVALUATED = frozenset((ir.AddressExpr, ir.SizeofExpr, ir.LambdaExpr))
PLACES = frozenset((ir.NameExpr, ir.MemberExpr, ir.ArrowExpr))
JOINS = (ir.LabelStmt, ir.UnknownStmt, ir.TryStmt)

# Functions that use the memory behind their first argument.
USING = frozenset(
    listed("strlen strcpy strcat strcmp strncmp strcasecmp strchr strrchr strstr strdup memcpy fgets fclose")
)


class LateTest(NamedTuple):
    """A pointer, the line of its dereference, and that of the test behind it."""

    pointer: ir.Expression
    line: int
    tested: int


class _LateSearch(NamedTuple):
    """What is looked for in a function: pointers that are tested somewhere behind a dereference, and those found."""

    suspects: frozenset[ir.Expression]
    found: dict[ir.Expression, LateTest]
    is_macro: Callable[[str], bool]


def late_tests(function: ir.LoweredFunction, is_macro: Callable[[str], bool]) -> list[LateTest]:
    """Return the pointers that are dereferenced whatever the path, and then tested without being assigned between.

    `is_macro` tells whether a call may be that of a macro, which may assign to its arguments.
    """
    search = _LateSearch(_suspects(function.body), {}, is_macro)
    if search.suspects:
        _follow(function.body, {}, search)
    return list(search.found.values())


def _suspects(body: Sequence[ir.Statement]) -> frozenset[ir.Expression]:
    """Return the pointers that a statement tests and one before it dereferences, whatever lies between."""
    used: set[ir.Expression] = set()
    result: set[ir.Expression] = set()
    waiting = list(reversed(body))
    while waiting:
        one = waiting.pop()
        if used and isinstance(one, (ir.IfStmt, ir.LoopStmt)):
            result.update(used.intersection(compared_with_constant(one.condition)))
        parts = OWN_PARTS.get(type(one))
        used.update(dereferences(parts(one)) if parts is not None else ())
        for inner in reversed([*bodies(one)]):
            waiting.extend(reversed(inner))
    return frozenset(result)


def _follow(body: Sequence[ir.Statement], used: dict[ir.Expression, int], search: _LateSearch) -> None:
    """Go through statements; `used` are the pointers that are dereferenced before them, with the line."""
    for one in body:
        if isinstance(one, JOINS):
            used.clear()
            continue
        if used and isinstance(one, (ir.LoopStmt, ir.SwitchStmt, ir.RangeForStmt)):
            # Later turns and other cases come here, too.
            _drop(used, _changed(one, search.is_macro))
        if used and isinstance(one, (ir.IfStmt, ir.LoopStmt)):
            _note(one, used, search)
        parts = OWN_PARTS.get(type(one))
        for pointer in dereferences(parts(one)) if parts is not None else ():
            if pointer in search.suspects:
                used.setdefault(pointer, one.line)  # type: ignore[attr-defined]
        for inner in bodies(one):
            _follow(inner, dict(used), search)
        if used:
            _drop(used, _changed(one, search.is_macro))


def _note(one: ir.IfStmt | ir.LoopStmt, used: dict[ir.Expression, int], search: _LateSearch) -> None:
    """Note the pointers that a condition tests after they were dereferenced."""
    for place in compared_with_constant(one.condition):
        if place in used and place not in search.found and place not in assigned((one.condition,)):
            search.found[place] = LateTest(place, used[place], one.line)


def _changed(one: ir.Statement, is_macro: Callable[[str], bool]) -> set[ir.Expression | None]:
    """Return the places that a statement may assign to, or gives the address of; None if it calls a function."""
    changes: set[ir.Expression | None] = set(assigned(one))
    for node in walk(one):
        if isinstance(node, ir.AddressExpr):
            changes.add(node.operand)
        elif isinstance(node, ir.DeclStmt):
            changes.add(ir.NameExpr("v", node.name))
        elif isinstance(node, ir.CallExpr):
            changes.add(None)
            if isinstance(node.callee, ir.NameExpr) and is_macro(node.callee.name):
                changes.update(node.args)
    return changes


def _drop(used: dict[ir.Expression, int], changes: set[ir.Expression | None]) -> None:
    """Forget the pointers that may have changed: members of a struct change in any call."""
    for pointer in list(used):
        part: ir.Expression = pointer
        is_gone = None in changes and not isinstance(pointer, ir.NameExpr)
        while not is_gone and isinstance(part, (ir.MemberExpr, ir.ArrowExpr)):
            is_gone, part = part in changes, part.base
        if is_gone or part in changes:
            del used[pointer]


def dereferences(code: object) -> list[ir.Expression]:
    """Return the places that are dereferenced whenever code is evaluated, in any order."""
    result: list[ir.Expression] = []
    left: list[Any] = [code]
    while left:
        one = left.pop()
        kind = type(one)
        if kind in CONDITIONAL:
            left.append(one.condition if kind is ir.ConditionalExpr else one.left)
            continue
        if kind in HOLLOW or kind in UNEVALUATED:
            continue
        pointer: Any = POINTERS[kind](one) if kind in POINTERS else None
        if type(pointer) in PLACES:
            result.append(pointer)
        left.extend(one)
    return result


def _used_by_call(e: ir.CallExpr) -> ir.Expression | None:
    return e.args[0] if type(e.callee) is ir.NameExpr and e.callee.name in USING and e.args else None


# By the kind of an expression, the pointer that it dereferences.
POINTERS: dict[type, Callable[[Any], Any]] = {
    ir.ArrowExpr: attrgetter("base"),
    ir.IndexExpr: attrgetter("base"),
    ir.DerefExpr: attrgetter("pointer"),
    ir.CallExpr: _used_by_call,
}
