"""Resolve the callee of a call, decide whether following it is worthwhile, and pass arguments to its frame."""

from jarvis_workers.dataflow.calls.tainting import reaches_effects
from jarvis_workers.dataflow.expressions.assignments import copy_parts
from jarvis_workers.dataflow.expressions.evaluate import evaluate, evaluate_all
from jarvis_workers.dataflow.expressions.lvalues import MOVED, name_bytes, name_target, place_of, place_quietly
from jarvis_workers.dataflow.expressions.value_numbering import forget
from jarvis_workers.dataflow.ir.expr import ArrowExpr, CallExpr, DerefExpr, Expression, MemberExpr, NameExpr
from jarvis_workers.dataflow.ir.stmt import FunctionMacro, LoweredFunction
from jarvis_workers.dataflow.library import LIBRARY, never_fails
from jarvis_workers.dataflow.memory.pointers import dereferenced, escape, used_after_free
from jarvis_workers.dataflow.queries.ast_queries import alias_of, variables_in
from jarvis_workers.dataflow.queries.natures import gives
from jarvis_workers.dataflow.state.context import facts_of
from jarvis_workers.dataflow.state.definitions import Callee
from jarvis_workers.dataflow.state.path import Frame, PathState
from jarvis_workers.dataflow.state.types import key_of, type_of
from jarvis_workers.dataflow.state.values import ANY, MAYBE_NULL, NOT_NULL, Value

NAMED = frozenset((NameExpr, MemberExpr, ArrowExpr))


def callee(path: PathState, call: CallExpr) -> Callee | None:
    """Return the function that a call invokes, if its body is available."""
    machine = path.machine
    target = call.callee
    if type(target) is NameExpr:
        if target.name in path.frame.types:
            return _pointed_to(path, target.name)
        if id(call) not in machine.callees:
            machine.callees[id(call)] = _named(path, target.name)
        return machine.callees[id(call)]
    match target:
        case MemberExpr(member=member) | ArrowExpr(member=member) if f".{member}" in machine.effects:
            return None
        case DerefExpr(pointer=NameExpr() as pointer):
            current = evaluate(path.copy(), pointer)
            return machine.function(current.code) if current.code else None
        case MemberExpr(base=base, member=member) | ArrowExpr(base=base, member=member):
            owner = _class_of(path, base)
            return (machine.function(f"{owner}::{member}") if owner else None) or _stored(path, target)
    return None


def pointed_library(path: PathState, called: Expression) -> str | None:
    """Return the library function that a variable or member refers to."""
    if type(called) is NameExpr:
        local = path.frame.types.get(called.name)
        current = path.cells.get(local.place) if local is not None else None
    else:
        place = place_quietly(path, called) if isinstance(called, (MemberExpr, ArrowExpr)) else None
        current = path.cells.get(place) if place is not None else None
    return current.code if current and current.code in LIBRARY and not current.target else None


def _stored(path: PathState, member: MemberExpr | ArrowExpr) -> Callee | None:
    """Return the function that a member refers to which the path has set."""
    if not any([current.code and not current.target for cell, current in path.cells.items() if cell[1]]):
        return None
    place = place_quietly(path, member)
    current = path.cells.get(place) if place is not None else None
    return _named(path, current.code) if current and current.code and not current.target else None


def _pointed_to(path: PathState, name: str) -> Callee | None:
    """Return the function that a function pointer refers to."""
    current = path.cells.get(path.frame.types[name].place)
    return _named(path, current.code) if current and current.code and name not in LIBRARY else None


def _named(path: PathState, name: str) -> Callee | None:
    """Return the function with a name, which may be a macro that is an alias of another name."""
    machine = path.machine
    if name in machine.effects or name in machine.modelled:
        return None
    if name not in LIBRARY and name not in machine.functions:
        macro = machine.macro(name)
        if isinstance(macro, FunctionMacro) and not _calls(macro, name):
            # Which of the two a file means depends on what it includes.
            return None
        name = alias_of(macro) or name
    method = own_method(path, name)
    if method is not None or name in LIBRARY or never_fails(name):
        return method
    return machine.function(name, path.frame.file)


def _calls(macro: FunctionMacro, name: str) -> bool:
    """Return whether a macro calls the function that it has the name of."""
    return name in variables_in((macro.body,))


def own_method(path: PathState, name: str) -> Callee | None:
    """Return the method that a name without an object refers to inside a method of the same class."""
    owner = path.frame.function.name.rpartition("::")[0]
    return path.machine.function(f"{owner}::{name}", path.frame.file) if owner else None


def _class_of(path: PathState, e: Expression) -> str | None:
    if isinstance(e, NameExpr):
        current = path.cells.get((key_of(path, e.name), ""))
        if current and current.kind:
            return current.kind
        declared = path.frame.types.get(e.name)
        if declared:
            return declared.kind.rstrip("*&")
    kind = type_of(path, e)
    return kind.rstrip("*&") if kind else None


def matters(path: PathState, call: CallExpr, target: Callee) -> bool:
    """Return whether to follow a call: only if it allocates or reads input, or a tracked value is passed to it."""
    function, _ = target
    informs, names = facts_of(function).nature
    if informs or "::" in function.name or any([type(part) is CallExpr and gives(part) for part in call.args]):
        return True
    if path.machine.rule is not None and reaches_effects(path.machine, *target):
        return True
    by_call = path.machine.call_variables
    variables = by_call.get(id(call))
    if variables is None:
        # What a variable argument list holds has no name in the callee.
        variables = by_call[id(call)] = variables_in(call.args[: len(function.params)])
    for name in variables:
        if _is_tracked(path, name):
            return True
    return any([key.rpartition(":")[2] in names for key, _ in path.cells if key[:2] == "g:"])


def _is_tracked(path: PathState, name: str) -> bool:
    """Return whether more than a numeric range is tracked for a variable."""
    key = key_of(path, name)
    current = path.cells.get((key, ""))
    if current is None:
        return key in path.objects or (name in path.frame.types and any(cell[0] == key for cell in path.cells))
    if current.taint or current.unset or current.null >= MAYBE_NULL or current.code:
        return True
    target = path.object_of(current)
    return (target is not None and target.kind != "text") or (current.target or "", "") in path.cells


def arguments(path: PathState, call: CallExpr, function: LoweredFunction) -> list[Value]:
    """Return the argument values of a call; for a reference parameter, a pointer to the referenced place.

    The target of an unknown pointer gets a name, so that a release in the callee is visible in the caller.
    """
    path.machine.execution.line = call.line
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
        return object_behind(path, callee, call.line)
    place = place_of(path, callee.base) if isinstance(callee, MemberExpr) else None
    return Value(target=place[0], null=NOT_NULL) if place else ANY


def object_behind(path: PathState, method: ArrowExpr, line: int) -> Value:
    """Return the pointer to the object whose method, or function in a member, is called: the call uses the object."""
    value = evaluate(path, method.base)
    if path.machine.mode.quiet or (value.null > NOT_NULL and not dereferenced(path, method.base, value, line)):
        return value
    target = path.object_of(value)
    if target is not None and target.freed is not None:
        used_after_free(path, method.base, value, line)
    return value


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
    fields = path.machine.fields_of_owner(frame.function) if frame.function.init else {}
    for member, args in frame.function.init:
        if frame.this.target and len(args) == 1:
            (value,) = evaluate_all(path, args)
            path.cells[frame.this.target, "." + member] = value
            if member not in fields or not path.machine.plain(fields[member].type).endswith("*"):
                # A base class or a smart pointer may own it.
                escape(path, value)


def forget_frame(path: PathState, frame: Frame) -> None:
    """Discard the local variables of a function that returns, except the object that its result points into."""
    prefix = f"{frame.number}:"
    result_key = path.returned.target or ""
    for cell in [cell for cell in path.cells if cell[0].startswith(prefix) and cell[0] != result_key]:
        del path.cells[cell]
    for fact in [fact for fact in path.facts if fact.startswith(prefix)]:
        del path.facts[fact]
