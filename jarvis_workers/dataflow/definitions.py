"""What the files of a run define: functions, types, macros and variables, of this file first, then of the others.

What two other files define differently is taken for unknown.
"""

from collections.abc import Callable, Sequence
from typing import Any

from jarvis_workers.dataflow.sizes import size_of

__all__ = ["Callee", "Definitions", "Lookup"]

# What other files export under a name: their path, and the function, type or macro.
Lookup = Callable[[str], Sequence[tuple[str, Any]]]
# A function and the file it is in, None for the one that is analyzed.
Callee = tuple[dict[str, Any], str | None]
NOTHING: dict[str, Any] = {}


class Definitions:
    """Names, and what they stand for."""

    def __init__(self, model: dict[str, Any], lookup: Lookup) -> None:
        self.functions: dict[str, dict[str, Any]] = {one["name"]: one for one in model["functions"]}
        self.globals: dict[str, Any] = model["globals"]
        self.macros: dict[str, Any] = model["macros"]
        self.is_cpp: bool = model.get("cpp", True)
        self._types: dict[str, Any] = model["types"]
        self._typedefs: dict[str, str] = model["typedefs"]
        self._lookup = lookup
        self._types_elsewhere: dict[str, Any] = {}
        self._macros_elsewhere: dict[str, Any] = {}
        self._functions_elsewhere: dict[str, Callee | None] = {}

    def function(self, name: str) -> Callee | None:
        """Return a function whose body is known."""
        own = self.functions.get(name)
        return (own, None) if own is not None else self.function_elsewhere(name)

    def function_elsewhere(self, name: str) -> Callee | None:
        if name not in self._functions_elsewhere:
            found = [(payload, path) for path, payload in self._lookup(name) if "body" in payload]
            self._functions_elsewhere[name] = found[0] if len(found) == 1 else None
        return self._functions_elsewhere[name]

    def macro(self, name: str) -> Any:
        """Return what a macro stands for, of this file or, if it is a constant or another name, of a header."""
        own = self.macros.get(name)
        if own is not None:
            return own
        if name not in self._macros_elsewhere:
            found = self._lookup(f"macro {name}")
            values = {str(payload) for _, payload in found}
            self._macros_elsewhere[name] = found[0][1] if len(values) == 1 else None
        return self._macros_elsewhere[name]

    def type_named(self, kind: str) -> dict[str, Any]:
        """Return the fields and bases of a struct, class or union; nothing if it is not known."""
        own: dict[str, Any] | None = self._types.get(kind)
        if own is not None:
            return own
        known: dict[str, Any] | None = self._types_elsewhere.get(kind)
        if known is None:
            found = self._lookup(f"type {kind}") if kind else ()
            known = self._types_elsewhere[kind] = found[0][1] if found else NOTHING
        return known

    def fields_of_owner(self, function: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of the class that a method belongs to."""
        owner = function["name"].rpartition("::")[0]
        fields: dict[str, Any] = self.type_named(owner).get("fields", NOTHING) if owner else NOTHING
        return fields

    def plain(self, kind: str) -> str:
        """Return what a type stands for if it is a typedef of this file."""
        return self._typedefs.get(kind, kind)

    def size_of(self, kind: str) -> int:
        return size_of(self.plain(kind), self._types)
