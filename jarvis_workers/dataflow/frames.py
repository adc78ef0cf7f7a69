"""What goes into a function with a call, and what is left behind when it returns."""

from typing import Any

from jarvis_workers.dataflow.assignments import copy_parts
from jarvis_workers.dataflow.evaluate import evaluate, evaluate_all
from jarvis_workers.dataflow.lvalues import place_of, somebody_elses
from jarvis_workers.dataflow.path import Frame, PathState
from jarvis_workers.dataflow.sizes import limits_of
from jarvis_workers.dataflow.values import ANY, NOT_NULL, Expression, Value

__all__ = ["arguments", "bind", "forget_frame", "object_of"]

NAMED = ("v", ".", "->")


def arguments(path: PathState, call: Expression, function: dict[str, Any]) -> list[Value]:
    """Return the arguments of a call; for a reference, what it stands for.

    What an unknown pointer points to gets a name: the function may release it, and the caller use it afterwards.
    """
    path.machine.line = call[3]
    values = evaluate_all(path, call[2])
    for number, (parameter, value, part) in enumerate(zip(function["params"], values, call[2], strict=False)):
        if parameter[1].endswith("*") and value.target is None and not value.taint and part and part[0] in NAMED:
            values[number] = somebody_elses(path, part, value)
    for number, (parameter, part) in enumerate(zip(function["params"], call[2], strict=False)):
        if parameter[1].endswith("&"):
            place = place_of(path, part)
            if place:
                values[number] = Value(target=place[0], code=place[1] or None, null=NOT_NULL)
    return values


def object_of(path: PathState, call: Expression) -> Value:
    """Return what `this` is in a call of a method."""
    name = call[1]
    if name[0] == "v":
        return path.frame.this
    if name[0] == "->":
        return evaluate(path, name[1])
    place = place_of(path, name[1]) if name[0] == "." else None
    return Value(target=place[0], null=NOT_NULL) if place else ANY


def bind(path: PathState, call: Expression, values: list[Value], inner: Frame) -> None:
    """Go into a function and give it its arguments; structs and containers are copied part by part."""
    parameters = inner.function["params"]
    for (name, kind, *_), value in zip(parameters, values, strict=False):
        path.cells[inner.declare(name, path.machine.plain(kind)), ""] = value
    for (name, kind, *_), part in zip(parameters, call[2], strict=False):
        if part and not kind.endswith(("*", "&")) and not limits_of(kind):
            copy_parts(path, part, (inner.key(name), ""))
    path.frame = inner
    _begin(path)


def _begin(path: PathState) -> None:
    """Set what references stand for, and the members that a constructor begins with."""
    frame = path.frame
    for name, kind, *_ in frame.function["params"]:
        if kind.endswith("&"):
            key = frame.key(name)
            value = path.cells.get((key, ""), ANY)
            if value.target:
                frame.references.add(name)
                path.cells[key, "&"] = Value(target=value.target, code=value.code or "")
    for field, parts in frame.function.get("init", ()):
        if frame.this.target and len(parts) == 1:
            path.cells[frame.this.target, "." + field] = evaluate(path, parts[0])


def forget_frame(path: PathState, frame: Frame) -> None:
    """Forget the variables of a function that returns, but for what its result points into."""
    prefix = f"{frame.number}:"
    held = path.returned.target or ""
    for cell in [cell for cell in path.cells if cell[0].startswith(prefix) and cell[0] != held]:
        del path.cells[cell]
