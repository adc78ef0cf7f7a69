"""Carry out what stores a value: assignments, ++ and --, declarations."""

import re
from typing import Any

from jarvis_workers.dataflow.ast_queries import length_of_text
from jarvis_workers.dataflow.evaluate import evaluate, evaluates
from jarvis_workers.dataflow.lvalues import place_of, place_quietly
from jarvis_workers.dataflow.numbers import computed
from jarvis_workers.dataflow.ownership import stored
from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.pointers import escape
from jarvis_workers.dataflow.ranges import is_exact
from jarvis_workers.dataflow.sizes import NUMBERS_WITH_FRACTIONS, limits_of
from jarvis_workers.dataflow.types import fitted, type_of
from jarvis_workers.dataflow.values import (
    ANY,
    UNKNOWN,
    Expression,
    Object,
    PathEvent,
    Place,
    Range,
    Statement,
    Value,
    number,
)

__all__ = ["copy_parts", "declare", "define"]

WORDS = re.compile(r"\w+")
PARTED = frozenset(("v", ".", "->", "*", "i"))


@evaluates("=")
def _assign(path: PathState, e: Expression) -> Value:
    machine = path.machine
    if len(e) > 4:
        machine.line = e[4]
    if e[1]:
        old = evaluate(path, e[2])
        value = computed(path, ["b", *e[1:4]], old, evaluate(path, e[3]))
    else:
        value = evaluate(path, e[3])
    machine.copied = e[3] if not e[1] else None
    _store(path, e[2], value)
    machine.copied = None
    return value


@evaluates("++")
def _move(path: PathState, e: Expression) -> Value:
    old = evaluate(path, e[3])
    new = computed(path, ["b", e[1], e[3], ["n", 1]], old, number(1))
    _store(path, e[3], new)
    return new if e[2] else old


def _store(path: PathState, target: Expression, value: Value) -> None:
    """Write a value where an expression says."""
    machine = path.machine
    machine.writing, machine.storing = True, value
    place = place_of(path, target)
    machine.writing = False
    _forget_facts(path, target)
    if place is None:
        escape(path, value)
        return
    kind = type_of(path, target)
    if kind:
        value = fitted(path, value, kind)
    path.cells[place] = value
    if not value.target and machine.copied is not None:
        copy_parts(path, machine.copied, place, kind)
    if value.target is not None:
        stored(path, target, place, value)


def _forget_facts(path: PathState, target: Expression) -> None:
    """What conditions said of a place holds no longer."""
    if path.facts:
        name = _variable_of(target)
        for fact in [fact for fact in path.facts if name is None or name in WORDS.findall(fact)]:
            del path.facts[fact]


def _variable_of(target: Expression) -> str | None:
    """Return the name of the variable that a place is part of."""
    while target[0] in ("i", ".", "->", "*", "t"):
        target = target[2] if target[0] == "t" else target[1]
    return target[1] if target[0] == "v" else None


def copy_parts(path: PathState, source: Expression, place: Place, kind: str | None = None) -> None:
    """Copy the fields of a struct, or what is in a container, when it is assigned as a whole."""
    if source[0] not in PARTED or (kind and (kind.endswith("*") or limits_of(kind))):
        return
    origin = place_quietly(path, source)
    if origin is None or origin == place:
        return
    inside = len(origin[1])
    for (key, part), held in list(path.cells.items()):
        if key == origin[0] and part.startswith(origin[1]) and part != origin[1] and part[inside] in ".[":
            path.cells[place[0], place[1] + part[inside:]] = held


def declare(path: PathState, name: str, kind: str, *, array: bool = False) -> None:
    """Make a variable known, and forget what was known of it in an earlier turn."""
    key = path.frame.declare(name, path.machine.plain(kind), array=array)
    path.forget(key)
    path.objects.pop(key, None)


def define(path: PathState, statement: Statement) -> None:
    """Carry out a declaration that runs no constructor."""
    _, line, name, kind, dims, init, flags = statement
    frame = path.frame
    if name not in frame.types:
        frame.declare(name, kind, array=bool(dims))
    value = evaluate(path, init) if init and init[0] != "{}" and not dims else ANY
    declare(path, name, kind, array=bool(dims))
    key = frame.key(name)
    if "s" in flags:
        path.machine.statics.add(key)
    if dims:
        path.objects[key] = _array(path, statement)
    elif init:
        _initialise(path, statement, value)
    elif "s" not in flags and "e" not in flags and _begins_unset(kind):
        why = PathEvent(path.trail, frame.file, line, "{} is declared without a value", ["v", name])
        path.cells[key, ""] = Value(unset=True, why=why)


def _begins_unset(kind: str) -> bool:
    return kind.endswith("*") or limits_of(kind) is not None or kind in NUMBERS_WITH_FRACTIONS


def _initialise(path: PathState, statement: Statement, value: Value) -> None:
    _, _, name, kind, _, init, _ = statement
    key = path.frame.key(name)
    if kind.endswith("&"):
        place = place_of(path, init) if init[0] != "c" else None
        if place:
            path.frame.declare(name, kind[:-1])
            path.frame.references.add(name)
            path.cells[key, "&"] = Value(target=place[0], code=place[1])
            return
    if init[0] == "{}":
        _fill(path, key, init)
        return
    path.cells[key, ""] = fitted(path, value, kind)
    copy_parts(path, init, (key, ""), kind)
    made = path.object_of(value)
    if made is not None and not made.name:
        path.objects[value.target or ""] = made._replace(name=name)


def _fill(path: PathState, key: str, init: Expression) -> None:
    for part in init[1]:
        if part and part[0] == ".=":
            path.cells[key, "." + part[1]] = evaluate(path, part[2])
        else:
            evaluate(path, part)


def _array(path: PathState, statement: Statement) -> Object:
    _, line, name, kind, dims, init, flags = statement
    machine, static = path.machine, "s" in flags or "e" in flags
    element = machine.size_of(kind)
    count = _count(path, dims)
    size: Range = (count * element, count * element) if count is not None else UNKNOWN
    unset = 0 if not init and not static and (_begins_unset(kind) or not machine.is_cpp) else None
    made = Object("static" if static else "stack", size=size, element=element, unset_from=unset, name=name)
    if init:
        made = _initialised(path, made, init, sized=dims[0] is not None)
    if not count:
        return made
    note = f"{{}} has {made.size[0]} bytes"
    return made._replace(made=PathEvent(path.trail, path.frame.file, line, note, ["v", name]))


def _count(path: PathState, dims: list[Any]) -> int | None:
    """Return the number of elements of an array."""
    count: int | None = 1
    for dim in dims:
        size = evaluate(path, dim).range if dim else UNKNOWN
        count = size[0] * count if count is not None and size[0] is not None and is_exact(size) else None
    return count


def _initialised(path: PathState, made: Object, init: Expression, *, sized: bool) -> Object:
    """Return an array with what its initialiser says of it."""
    text = path.machine.macros.get(init[1]) if init[0] == "v" else init
    if text and text[0] == "s":
        length = length_of_text(text)
        size = made.size if sized else ((length + 1) * made.element,) * 2
        return made._replace(size=size, length=(length, length), filled=length)
    if init[0] != "{}":
        return made
    if not sized:
        made = made._replace(size=(len(init[1]) * made.element,) * 2)
    first = init[1][0] if init[1] else None
    if not init[1] or (first and first[0] == "n" and first[1] == 0):
        made = made._replace(length=(0, 0))
    return made
