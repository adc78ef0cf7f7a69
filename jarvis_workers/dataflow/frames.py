"""Calling convention of followed calls: pass arguments, bind parameters, and discard the frame on return."""

from jarvis_workers.dataflow.assignments import copy_parts
from jarvis_workers.dataflow.context import facts_of
from jarvis_workers.dataflow.elements import forget
from jarvis_workers.dataflow.evaluate import evaluate, evaluate_all
from jarvis_workers.dataflow.ir.expr import ArrowExpr, CallExpr, MemberExpr, NameExpr
from jarvis_workers.dataflow.ir.stmt import LoweredFunction
from jarvis_workers.dataflow.lvalues import MOVED, name_bytes, name_target, place_of
from jarvis_workers.dataflow.path import Frame, PathState
from jarvis_workers.dataflow.values import ANY, NOT_NULL, Value

NAMED = frozenset((NameExpr, MemberExpr, ArrowExpr))


def arguments(path: PathState, call: CallExpr, function: LoweredFunction) -> list[Value]:
    """Return the argument values of a call; for a reference parameter, a pointer to the referenced place.

    The target of an unknown pointer gets a name, so that a release in the callee is visible in the caller.
    """
    path.machine.line = call.line
    for part in call.args:
        if type(part) in MOVED:
            name_bytes(path, part)
    values, facts, count = evaluate_all(path, call.args), facts_of(function), len(call.args)
    for number in facts.pointers:
        if number < count and _is_unnamed(values[number]) and type(call.args[number]) in NAMED:
            values[number] = name_target(path, call.args[number], values[number])
    for number in facts.references:
        place = place_of(path, call.args[number]) if number < count else None
        if place:
            values[number] = Value(target=place[0], code=place[1] or None, null=NOT_NULL)
    forget(path, None)
    return values


def _is_unnamed(value: Value) -> bool:
    return value.target is None and not value.taint


def object_of(path: PathState, call: CallExpr) -> Value:
    """Return the value of `this` in a method call."""
    callee = call.callee
    if isinstance(callee, NameExpr):
        return path.frame.this
    if isinstance(callee, ArrowExpr):
        return evaluate(path, callee.base)
    place = place_of(path, callee.base) if isinstance(callee, MemberExpr) else None
    return Value(target=place[0], null=NOT_NULL) if place else ANY


def bind(path: PathState, call: CallExpr, values: list[Value], inner: Frame) -> None:
    """Enter a function: bind its parameters; structs and containers are copied by part."""
    parameters, plain, cells = inner.function.params, path.machine.plain, path.cells
    for parameter, value in zip(parameters, values, strict=False):
        cells[inner.declare_parameter(parameter.name, plain(parameter.type))] = value
    for number in facts_of(inner.function).structs:
        if number < len(call.args):
            copy_parts(path, call.args[number], (inner.key(parameters[number].name), ""))
    path.frame = inner
    _begin(path)


def _begin(path: PathState) -> None:
    """Bind references, and evaluate the member initializers of a constructor."""
    frame = path.frame
    for number in facts_of(frame.function).references:
        name = frame.function.params[number].name
        key = frame.key(name)
        value = path.cells.get((key, ""), ANY)
        if value.target:
            frame.references.add(name)
            path.cells[key, "&"] = Value(target=value.target, code=value.code or "")
    for member, args in frame.function.init:
        if frame.this.target and len(args) == 1:
            path.cells[frame.this.target, "." + member], *_ = evaluate_all(path, args)


def forget_frame(path: PathState, frame: Frame) -> None:
    """Discard the local variables of a function that returns, except the object that its result points into."""
    prefix = f"{frame.number}:"
    result_key = path.returned.target or ""
    for cell in [cell for cell in path.cells if cell[0].startswith(prefix) and cell[0] != result_key]:
        del path.cells[cell]
