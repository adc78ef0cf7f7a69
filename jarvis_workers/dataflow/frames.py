"""What goes into a function with a call, and what is left behind when it returns."""

from jarvis_workers.dataflow.assignments import copy_parts
from jarvis_workers.dataflow.evaluate import evaluate, evaluate_all
from jarvis_workers.dataflow.ir.expr import ArrowExpr, CallExpr, MemberExpr, NameExpr
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
from jarvis_workers.dataflow.lvalues import place_of, somebody_elses
from jarvis_workers.dataflow.path import Frame, PathState
from jarvis_workers.dataflow.sizes import limits_of
from jarvis_workers.dataflow.values import ANY, NOT_NULL, Value

__all__ = ["arguments", "bind", "forget_frame", "object_of"]

NAMED = frozenset((NameExpr, MemberExpr, ArrowExpr))


def arguments(path: PathState, call: CallExpr, function: LoweredFunction) -> list[Value]:
    """Return the arguments of a call; for a reference, what it stands for.

    What an unknown pointer points to gets a name: the function may release it, and the caller use it afterwards.
    """
    path.machine.line = call.line
    values = evaluate_all(path, call.args)
    for number, (parameter, value, part) in enumerate(zip(function.params, values, call.args, strict=False)):
        if parameter.type.endswith("*") and value.target is None and not value.taint and type(part) in NAMED:
            values[number] = somebody_elses(path, part, value)
    for number, (parameter, part) in enumerate(zip(function.params, call.args, strict=False)):
        if parameter.type.endswith("&"):
            place = place_of(path, part)
            if place:
                values[number] = Value(target=place[0], code=place[1] or None, null=NOT_NULL)
    return values


def object_of(path: PathState, call: CallExpr) -> Value:
    """Return what `this` is in a call of a method."""
    callee = call.callee
    if isinstance(callee, NameExpr):
        return path.frame.this
    if isinstance(callee, ArrowExpr):
        return evaluate(path, callee.base)
    place = place_of(path, callee.base) if isinstance(callee, MemberExpr) else None
    return Value(target=place[0], null=NOT_NULL) if place else ANY


def bind(path: PathState, call: CallExpr, values: list[Value], inner: Frame) -> None:
    """Go into a function and give it its arguments; structs and containers are copied part by part."""
    parameters = inner.function.params
    for (name, kind, *_), value in zip(parameters, values, strict=False):
        path.cells[inner.declare(name, path.machine.plain(kind)), ""] = value
    for (name, kind, *_), part in zip(parameters, call.args, strict=False):
        if not kind.endswith(("*", "&")) and not limits_of(kind):
            copy_parts(path, part, (inner.key(name), ""))
    path.frame = inner
    _begin(path)


def _begin(path: PathState) -> None:
    """Set what references stand for, and the members that a constructor begins with."""
    frame = path.frame
    for name, kind, *_ in frame.function.params:
        if kind.endswith("&"):
            key = frame.key(name)
            value = path.cells.get((key, ""), ANY)
            if value.target:
                frame.references.add(name)
                path.cells[key, "&"] = Value(target=value.target, code=value.code or "")
    for member, args in frame.function.init:
        if frame.this.target and len(args) == 1:
            path.cells[frame.this.target, "." + member], *_ = evaluate_all(path, args)


def forget_frame(path: PathState, frame: Frame) -> None:
    """Forget the variables of a function that returns, but for what its result points into."""
    prefix = f"{frame.number}:"
    held = path.returned.target or ""
    for cell in [cell for cell in path.cells if cell[0].startswith(prefix) and cell[0] != held]:
        del path.cells[cell]
