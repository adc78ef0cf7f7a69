"""Find the function that a call goes to, and whether following it can tell more than taking it for unknown."""

from typing import Any

from jarvis_workers.dataflow.ast_queries import mentioned
from jarvis_workers.dataflow.definitions import Callee
from jarvis_workers.dataflow.evaluate import evaluate
from jarvis_workers.dataflow.library import LIBRARY, never_fails
from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.types import key_of, type_of
from jarvis_workers.dataflow.values import MAYBE_NULL, Expression

__all__ = ["callee", "matters"]


def callee(path: PathState, call: Expression) -> Callee | None:
    """Return the function that a call goes to, if its body is known."""
    if call[0] != "c":
        return None
    name, machine = call[1], path.machine
    if name[0] == "v":
        if name[1] in path.frame.types:
            return _pointed_to(path, name[1])
        if id(call) not in machine.callees:
            machine.callees[id(call)] = _named(path, name[1])
        return machine.callees[id(call)]
    if name[0] == "*" and name[1][0] == "v":
        held = evaluate(path.copy(), name[1])
        return machine.function(held.code) if held.code else None
    if name[0] in (".", "->"):
        owner = _class_of(path, name[1])
        return machine.function(f"{owner}::{name[2]}") if owner else None
    return None


def _pointed_to(path: PathState, name: str) -> Callee | None:
    """Return the function that a variable points to."""
    held = path.cells.get(path.frame.types[name].place)
    return _named(path, held.code) if held and held.code and name not in LIBRARY else None


def _named(path: PathState, name: str) -> Callee | None:
    """Return the function that a name stands for; a macro may be another name for it."""
    machine = path.machine
    if name not in LIBRARY and name not in machine.functions:
        macro = machine.macro(name)
        name = macro[1] if macro and macro[0] == "v" else name
    if name in LIBRARY or never_fails(name):
        return None
    owner = path.frame.function["name"].rpartition("::")[0]
    return (machine.function(f"{owner}::{name}") if owner else None) or machine.function(name)


def _class_of(path: PathState, e: Expression) -> str | None:
    if e[0] == "v":
        held = path.cells.get((key_of(path, e[1]), ""))
        if held and held.kind:
            return held.kind
        declared = path.frame.types.get(e[1])
        if declared:
            return declared[0].rstrip("*&")
    kind = type_of(path, e)
    return kind.rstrip("*&") if kind else None


def matters(path: PathState, call: Expression, function: dict[str, Any]) -> bool:
    """Tell whether a function makes or brings in something, or gets something of which something is known."""
    gives, names = path.machine.known(function).nature
    if gives or "::" in function["name"]:
        return True
    for key, _ in path.cells:
        if key[:2] == "g:" and key[2:] in names:
            return True
    by_call = path.machine.mentioned
    variables = by_call.get(id(call))
    if variables is None:
        variables = by_call[id(call)] = mentioned(call[2])
    return any(_is_tracked(path, name) for name in variables)


def _is_tracked(path: PathState, name: str) -> bool:
    """Tell whether more is known of a variable than its number."""
    key = key_of(path, name)
    held = path.cells.get((key, ""))
    if held is None:
        return key in path.objects or (name in path.frame.types and any(cell[0] == key for cell in path.cells))
    if held.taint or held.unset or held.null >= MAYBE_NULL or held.code:
        return True
    target = path.object_of(held)
    return (target is not None and target.kind != "text") or (held.target or "", "") in path.cells
