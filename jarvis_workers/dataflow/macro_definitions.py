"""Lookup of macros by name: those of the file first, then those of headers."""

from collections.abc import Sequence
from typing import Any, Protocol

from jarvis_workers.dataflow.ir import decode
from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.ir.stmt import FunctionMacro


class Lookup(Protocol):
    """Look up the exports of other files by name: their paths, and the function, type or macro.

    If several files export a name, those nearest to the file `near` are used; None is the analyzed file.
    """

    def __call__(self, name: str, /, *, near: str | None = None) -> Sequence[tuple[str, Any]]: ...


class MacroDefinitions:
    """The macros of a file, and those of headers, of which the file includes some itself."""

    def __init__(self, model: dict[str, Any], lookup: Lookup) -> None:
        self.macros: dict[str, Any] = model["macros"]
        self._opaque = frozenset(model["opaque"])
        self._included = frozenset(model["included"])
        self._macros: dict[str, Expression | FunctionMacro | None] = {}
        self._lookup = lookup
        self._found: dict[str, list[Any]] = {}

    def macro(self, name: str) -> Expression | FunctionMacro | None:
        """Return the value of a macro of this file or, if it is a constant or an alias, of a header."""
        if name not in self._macros:
            stored = self.macros.get(name)
            if stored is None and name not in self._opaque:
                result = self._elsewhere(name)
                stored = result[0] if result and all(payload == result[0] for payload in result) else None
            self._macros[name] = decode.macro(stored) if stored is not None else None
        return self._macros[name]

    def macro_choices(self, name: str) -> Sequence[Expression | FunctionMacro]:
        """Return the definitions of a macro of which it is unknown which one counts, or the one that does."""
        definition = self.macro(name)
        if definition is not None or name in self._opaque:
            return () if definition is None else (definition,)
        return [decode.macro(stored) for stored in self._elsewhere(name)]

    def is_unknown_macro(self, name: str) -> bool:
        """Return whether a name is that of a macro whose definition is not understood, or is one of several."""
        return self.macro(name) is None and (name in self._opaque or bool(self._elsewhere(name)))

    def _elsewhere(self, name: str) -> list[Any]:
        """Return the definitions of a macro in headers, those that the file includes itself if it is defined there."""
        if name not in self._found:
            found = self._lookup(f"macro {name}")
            included = [payload for path, payload in found if path.rpartition("/")[2] in self._included]
            self._found[name] = included or [payload for _, payload in found]
        return self._found[name]
