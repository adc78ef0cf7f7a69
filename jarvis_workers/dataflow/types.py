"""What an expression is by its declaration: the type of its value, the size of what it points to, whose name it is."""

from typing import Any

from jarvis_workers.dataflow.path import PathState
from jarvis_workers.dataflow.sizes import is_signed, limits_of
from jarvis_workers.dataflow.values import UNKNOWN, Expression, Object, Value

__all__ = ["element_size", "fitted", "key_of", "type_of"]


def key_of(path: PathState, name: str) -> str:
    """Return the name of the object that a variable is: `frame:name` if it is local, `g:name` if not."""
    frame = path.frame
    local = frame.types.get(name)
    if local is not None:
        return local.place[0]
    made = path.machine.globals.get(name)
    return f"g:{frame.file or ''}:{name}" if made and "s" in made[3] else f"g:{name}"


def type_of(path: PathState, e: Any) -> str | None:
    """Return the type of an expression, where it is plain to see."""
    kind = e[0] if e else None
    if kind == "v":
        return _type_of_variable(path, e[1])
    if kind in (".", "->"):
        return _type_of_field(path, e)
    if kind == "t":
        return str(e[1])
    if kind in ("*", "i"):
        inner = type_of(path, e[1])
        return inner[:-1] if inner and inner.endswith("*") else None
    if kind == "&":
        inner = type_of(path, e[1])
        return inner + "*" if inner else None
    return _type_of_result(path, e, kind)


def _type_of_result(path: PathState, e: Any, kind: str | None) -> str | None:
    if kind == "b" and e[1] in "+-":
        return type_of(path, e[2])
    if kind == "s":
        return "wchar_t*" if e[2] else "char*"
    if kind == "z":
        return "size_t"
    if kind == "new":
        return str(e[1]) + "*"
    if kind in ("=", "++"):
        return type_of(path, e[2] if kind == "=" else e[3])
    return None


def _type_of_variable(path: PathState, name: str) -> str | None:
    held = path.frame.types.get(name) or path.machine.globals.get(name)
    return str(held[0]) + ("*" if held[1] else "") if held else None


def _type_of_field(path: PathState, e: Expression) -> str | None:
    owner = type_of(path, e[1])
    if not owner:
        return None
    field = path.machine.type_named(owner.rstrip("*&")).get("fields", {}).get(e[2])
    return field[0] + ("*" if field[1] else "") if field else None


def element_size(path: PathState, pointer: Expression, target: Object | None = None) -> int:
    """Return the size of what a pointer points to, in bytes."""
    kind = type_of(path, pointer)
    if kind and kind.endswith("*"):
        return path.machine.size_of(kind[:-1])
    return target.element if target else 1


def fitted(path: PathState, value: Value, kind: str, *, cast: bool = False) -> Value:
    """Return a number as a type holds it."""
    if value.target or value.range == UNKNOWN:
        return value
    bounds = limits_of(path.machine.plain(kind))
    if bounds is None:
        return value
    low, high = value.range
    if (low is not None and low < bounds[0]) or (high is not None and high > bounds[1]):
        return value._replace(range=bounds if not is_signed(kind) or cast else value.range)
    return value
