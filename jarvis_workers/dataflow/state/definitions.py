"""Definitions that code may refer to: functions, types, macros and variables of the file first, then of other files.

A name that two other files define differently counts as unknown.  Summaries are decoded on first use.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from jarvis_workers.dataflow.ir import decode
from jarvis_workers.dataflow.ir.expr import Expression
from jarvis_workers.dataflow.ir.stmt import FunctionMacro, LoweredFunction, RecordField, RecordType
from jarvis_workers.dataflow.state.sizes import OTHER, POINTER, SIZES, Layout, lay_out

__all__ = ["Callee", "Definitions", "Lookup", "RecentResults"]

RECENT_MAX = 1_000
S = TypeVar("S")
T = TypeVar("T")
# The names of exports: a static function that other files may enter only through its own file.
STATIC = "static "
# The names of exports: a function that never returns, by its prototype.
ENDING = "ending "
# The end of the type that a typedef of an array stands for.
ARRAY = "[]"
# A function and its file, None for the analyzed file.
Callee = tuple[LoweredFunction, str | None]


class RecentResults(Generic[S, T]):
    """A cache keyed by the identity of objects; it holds the latest RECENT_MAX objects and their results."""

    def __init__(self, make: Callable[[S], T]) -> None:
        self._make = make
        self._results: dict[int, tuple[S, T]] = {}

    def __call__(self, of: S) -> T:
        try:
            return self._results[id(of)][1]
        except KeyError:
            return self._compute(of)

    def _compute(self, of: S) -> T:
        if len(self._results) >= RECENT_MAX:
            del self._results[next(iter(self._results))]
        result = self._make(of)
        self._results[id(of)] = of, result
        return result


# The symbol index returns the same objects for every file that is analyzed.
_function_elsewhere = RecentResults[Any, LoweredFunction](decode.function)


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


class Definitions(MacroDefinitions):
    """Lookup of functions, types, macros and variables by name."""

    def __init__(self, model: dict[str, Any], lookup: Lookup) -> None:
        super().__init__(model, lookup)
        self.functions: dict[str, dict[str, Any]] = {one["name"]: one for one in model["functions"]}
        self._others = frozenset(model.get("others", ()))
        self.globals = {name: decode.global_variable(stored) for name, stored in model["globals"].items()}
        self.is_cpp: bool = model.get("cpp", True)
        self._types = {name: decode.record(stored) for name, stored in model["types"].items()}
        self._typedefs: dict[str, str] = model["typedefs"]
        self._ending = {name: True for name in model["ending"]}
        self._plain: dict[str, str] = {}
        self._arrays: set[str] = set()
        self._sizes: dict[str, tuple[int, int]] = {}
        self._layouts: dict[str, Layout | None] = {}
        self._types_elsewhere: dict[str, RecordType | None] = {}
        self._functions: dict[int, LoweredFunction] = {}
        self._functions_elsewhere: dict[str, Callee | None] = {}
        self._statics_elsewhere: dict[tuple[str, str], tuple[bool, Callee | None]] = {}
        # The functions of other files that are analyzed with their files, by identity.
        self._roots_elsewhere: set[int] = set()

    def own(self, stored: dict[str, Any]) -> LoweredFunction:
        """Return a decoded function of this file, always the same object."""
        function = self._functions.get(id(stored))
        if function is None:
            function = self._functions[id(stored)] = decode.function(stored)
        return function

    def function(self, name: str, file: str | None = None) -> Callee | None:
        """Return the function with a body that a name in `file` refers to, None for the analyzed file."""
        own = self.functions.get(name)
        if file is None:
            if own is not None:
                return self.own(own), None
            return self.function_elsewhere(name) if name not in self._others else None
        is_hidden, hidden = self._hidden_elsewhere(name, file)
        if is_hidden:
            return hidden
        if own is not None and not own["static"]:
            return self.own(own), None
        return self.function_elsewhere(name)

    def _hidden_elsewhere(self, name: str, file: str) -> tuple[bool, Callee | None]:
        """Return whether another file has a function that it does not export, and this function if it has a body."""
        key = (name, file)
        if key not in self._statics_elsewhere:
            found = [payload for path, payload in self._lookup(STATIC + name, near=file) if path == file]
            callee = self._from(file, found[0]) if found and "body" in found[0] else None
            self._statics_elsewhere[key] = bool(found), callee
        return self._statics_elsewhere[key]

    def function_elsewhere(self, name: str) -> Callee | None:
        if name not in self._functions_elsewhere:
            result = [(payload, path) for path, payload in self._lookup(name) if "body" in payload]
            payload, path = result[0] if len(result) == 1 else (None, "")
            self._functions_elsewhere[name] = self._from(path, payload) if payload is not None else None
        return self._functions_elsewhere[name]

    def _from(self, file: str, exported: dict[str, Any]) -> Callee:
        function = _function_elsewhere(exported)
        if exported["root"]:
            self._roots_elsewhere.add(id(function))
        return function, file

    def is_root_elsewhere(self, function: LoweredFunction) -> bool:
        """Return whether a function of another file is analyzed with that file."""
        return id(function) in self._roots_elsewhere

    def never_returns(self, name: str) -> bool:
        """Return whether the prototype of a function says that it never returns."""
        if name not in self._ending:
            self._ending[name] = bool(self._lookup(ENDING + name))
        return self._ending[name]

    def type_named(self, kind: str) -> RecordType | None:
        """Return a struct, class or union; None if it is unknown."""
        own = self._types.get(kind)
        if own is not None:
            return own
        if kind not in self._types_elsewhere:
            definitions = self._lookup(f"type {kind}") if kind else ()
            record = decode.record(definitions[0][1]) if definitions else None
            self._types_elsewhere[kind] = record
            alias = self.plain(kind).rstrip("*&") if record is None else kind
            if alias != kind:
                self._types_elsewhere[kind] = self.type_named(alias)
        return self._types_elsewhere[kind]

    def fields_of_owner(self, function: LoweredFunction) -> Mapping[str, RecordField]:
        """Return the fields of the class that a method belongs to."""
        owner = function.name.rpartition("::")[0]
        record = self.type_named(owner) if owner else None
        return record.fields if record is not None else {}

    def plain(self, kind: str) -> str:
        """Return the underlying type of a typedef of this file or of a header; of an array, the type of its address."""
        plain = self._plain.get(kind)
        if plain is not None:
            return plain
        own = self._typedefs.get(kind)
        # A typedef may name itself.
        self._plain[kind] = kind
        if own is None and kind not in SIZES and kind.isidentifier():
            stored = [payload for _, payload in self._lookup(f"typedef {kind}")]
            if stored and all(payload == stored[0] for payload in stored):
                own = self.plain(stored[0])
                if self.is_array(stored[0]):
                    self._arrays.add(kind)
        if own is not None and own.endswith(ARRAY):
            self._arrays.add(kind)
            own = own.removesuffix(ARRAY) + "*"
        if own is not None:
            self._plain[kind] = own
        return self._plain[kind]

    def is_array(self, kind: str) -> bool:
        """Return whether a typedef names an array."""
        return kind.endswith(ARRAY) or (bool(self.plain(kind)) and kind in self._arrays)

    def size_of(self, kind: str) -> int:
        return self._measure(kind)[0]

    def layout_of(self, kind: str) -> Layout | None:
        """Return the layout of a struct of this file."""
        if kind not in self._layouts:
            record = self._types.get(self.plain(kind))
            # A struct that contains itself has no layout.
            self._layouts[kind] = None
            self._layouts[kind] = lay_out(record, self._measure) if record is not None else None
        return self._layouts[kind]

    def _measure(self, kind: str) -> tuple[int, int]:
        """Return the size and the alignment of a type."""
        measured = self._sizes.get(kind)
        if measured is None:
            plain = self.plain(kind)
            size = POINTER if plain.endswith(("*", "&")) else SIZES.get(plain)
            if kind in self._arrays:
                measured = OTHER, 1
            elif size is not None:
                measured = size, size
            else:
                layout = self.layout_of(plain)
                measured = (layout.size, layout.alignment) if layout is not None else (OTHER, 1)
            self._sizes[kind] = measured
        return measured
