"""The state of the translation of one definition: types, names, scopes, jumps, and the items that it collects."""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from ctypes import c_float
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from jarvis_workers.c2rust.mechanical.code import ATOM, UNARY, Code
from jarvis_workers.c2rust.mechanical.names import Names, SymbolUse
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.c2rust.rust_names import identifier
from jarvis_workers.source.clang.c_types import CType, Record, UnitDefinitions
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

# C arithmetic types: their Rust names, literals, integer promotions and usual conversions (C11 6.3.1).

INT = CType("integer", "int", 4, 4, signed=True)
ARITHMETIC = ("bool", "integer", "enum", "floating")
FLOATS = {4: "f32", 8: "f64"}


def scalar(type_: CType) -> str:
    """Return the Rust name of an arithmetic type, or "" for any other type."""
    if type_.kind == "enum":
        return scalar(type_.target) if type_.target else "u32"
    if type_.kind == "integer":
        return f"{'i' if type_.signed else 'u'}{type_.size * 8}"
    if type_.kind == "floating":
        return FLOATS.get(type_.size) or refuse("floating_type")
    return "bool" if type_.kind == "bool" else ""


def is_floating(type_: CType) -> bool:
    return type_.kind == "floating"


def is_signed(type_: CType) -> bool:
    return scalar(type_).startswith("i")


def promoted(type_: CType, width: int = 0) -> CType:
    """Return the type after the integer promotions; `width` is that of a bit-field."""
    if type_.kind == "floating":
        return type_
    if type_.kind == "enum" and type_.target:
        return promoted(type_.target, width)
    if type_.size < INT.size or 0 < width < INT.size * 8:
        return INT
    return type_


def common(left: CType, right: CType) -> CType:
    """Return the common type of the operands of an operator, both promoted."""
    floats = [one for one in (left, right) if is_floating(one)]
    if floats:
        return max(floats, key=lambda one: one.size)
    return max((left, right), key=lambda one: (one.size, not one.signed))


def literal(value: float, type_: CType) -> Code:
    """Return a constant of an arithmetic type; integers wrap around."""
    name = scalar(type_)
    if name == "bool":
        return Code("true" if value else "false", value=int(bool(value)))
    if is_floating(type_):
        return _floating(c_float(value).value if name == "f32" else float(value), name)
    number = _wrapped(int(value) if math.isfinite(value) else 0, type_)
    return Code(f"{number}{name}", UNARY if number < 0 else ATOM, value=number, bare=str(number))


def _floating(value: float, name: str) -> Code:
    if math.isnan(value):
        return Code(f"{name}::NAN", value=value)
    if math.isinf(value):
        return Code(f"{name}::{'NEG_' if value < 0 else ''}INFINITY", value=value)
    digits = repr(value)
    if "e" not in digits and "." not in digits:
        digits += ".0"
    level = UNARY if digits.startswith("-") else ATOM
    return Code(f"{digits}{name}" if "e" in digits or "." in digits else digits, level, value=value, bare=digits)


def _wrapped(value: int, type_: CType) -> int:
    bits = (type_.target.size if type_.kind == "enum" and type_.target else type_.size) * 8
    value &= (1 << bits) - 1
    return value - (1 << bits) if is_signed(type_) and value >> (bits - 1) else value


VOID = CType("void", "void")
ARRAYS = ("array", "incomplete_array", "variable_array")
# Expressions that stand for their operand, and are lvalues if it is one.
TRANSPARENT = ("parentheses",)
OTHER_TYPES = (
    ("_Complex", "complex"),
    ("_Atomic", "atomic"),
    ("vector", "vector"),
    ("__ext_vector", "vector"),
    ("double", "floating_type"),
    ("loat", "floating_type"),
    ("va_list", "va_list"),
)


@dataclass(frozen=True)
class Parts:
    """Translators of the parts of a definition; modules provide some, and call those of other modules through this."""

    value: Callable[["BodyContext", SyntaxNode], Code]
    effect: Callable[["BodyContext", SyntaxNode], list[str]]
    statement: Callable[["BodyContext", SyntaxNode], list[str]]


@dataclass(slots=True)
class JumpTarget:
    """A loop or labelled block around the current statement, innermost last.

    `breaks` and `continues` mean that C's `break` or `continue` jumps here.  `code` is the statement that jumps here,
    if it is not Rust's `break`.
    """

    label: str
    loop: bool = False
    breaks: bool = False
    continues: bool = False
    code: str = ""
    mentioned: bool = False


class LabelStates(Protocol):
    """The states of a state machine that executes the statements of a function."""

    def state_of(self, label: str) -> int: ...


class Unstructured(Exception):
    """A jump that blocks and loops cannot express: the function needs a state machine."""


@dataclass
class BodyContext:
    """The context of one definition; `static` means the value of an item, which must be constant."""

    unit: UnitDefinitions
    names: Names
    symbol: str
    parts: Parts
    result: CType = VOID
    static: bool = False
    parameters: dict[int, CType] = field(default_factory=dict)
    uses: dict[str, SymbolUse] = field(default_factory=dict)
    items: list[str] = field(default_factory=list)
    hoisted: list[str] = field(default_factory=list)
    locals: dict[int, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=lambda: {"state", "packed_record", "None", "Some", "Ok", "Err"})
    scopes: list[set[str]] = field(default_factory=lambda: [set()])
    targets: list[JumpTarget] = field(default_factory=list)
    hoisting: bool = False
    machine: "LabelStates | None" = None
    gotos: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def value(self, node: SyntaxNode) -> Code:
        """Return an expression that has the type `type_of(node)`."""
        return self.parts.value(self, node)

    def effect(self, node: SyntaxNode) -> list[str]:
        """Return the statements of an expression whose value is not used."""
        return self.parts.effect(self, node)

    def statement(self, node: SyntaxNode) -> list[str]:
        return self.parts.statement(self, node)

    def type_of(self, node: SyntaxNode) -> CType:
        """Return the type of an expression or variable."""
        if node.local in self.parameters:
            return self.parameters[node.local]
        return self.unit.types.get(node.type) or refuse("type", node)

    def rust(self, type_: CType, node: SyntaxNode | None = None) -> str:
        """Return a type in Rust."""
        check_type(type_, node)
        for record in _records_in(self.unit, type_):
            self.use(SymbolUse("record", record.key, record.name, CType("record", record.name, key=record.key)))
        return scalar(type_) or self.names.types.rust_type(type_)

    @cached_property
    def _signatures(self) -> dict[str, CType]:
        defined = {one.key: one.type for one in self.unit.definitions}
        return {one.key: one.type for one in self.unit.declared} | defined

    def signature(self, key: str) -> CType | None:
        """Return the type of a function as declared in the crate, if known."""
        return self.names.signatures.get(key) or self._signatures.get(key)

    def record(self, type_: CType) -> Record:
        return self.unit.records.get(type_.key) or refuse("type")

    def use(self, use: SymbolUse) -> None:
        self.uses.setdefault(use.key, use)

    def fresh(self, stem: str) -> str:
        """Return a name that is unique in the body: `stem`, `stem_2`, …"""
        name = identifier(stem)
        number = 1
        while self._is_taken(name):
            number += 1
            name = f"{identifier(stem)}_{number}"
        return name

    def _is_taken(self, name: str) -> bool:
        return name in self.taken or name in self.names.reserved or any(name in scope for scope in self.scopes)

    def temporary(self, stem: str = "t") -> str:
        """Return a name for a temporary; its number is unique in the body."""
        self.numbers[stem] = self.numbers.get(stem, 0) + 1
        name = self.fresh(f"{stem}{self.numbers[stem]}" if stem == "t" else f"{stem}_{self.numbers[stem]}")
        self.taken.add(name)
        return name

    def declare(self, node: SyntaxNode, *, hoist: bool) -> str:
        """Choose the name of a local variable, valid in its scope or in the whole body."""
        name = self.fresh(node.name or "unnamed")
        (self.taken if hoist else self.scopes[-1]).add(name)
        self.locals[node.local] = name
        return name

    @contextmanager
    def scope(self) -> Iterator[None]:
        self.scopes.append(set())
        yield
        self.scopes.pop()

    @contextmanager
    def target(self, *targets: JumpTarget) -> Iterator[None]:
        self.targets.extend(targets)
        yield
        del self.targets[len(self.targets) - len(targets) :]


def _records_in(unit: UnitDefinitions, type_: CType) -> Iterator[Record]:
    for one in (type_, *type_.parameters):
        if one.kind == "record" and one.key in unit.records:
            yield unit.records[one.key]
        if one.target is not None:
            yield from _records_in(unit, one.target)


def check_type(type_: CType, node: SyntaxNode | None = None) -> None:
    """Reject a type that has no counterpart in Rust."""
    if type_.kind == "other":
        refuse(next((reason for word, reason in OTHER_TYPES if word in type_.spelling), "type"), node)
    if type_.kind == "variable_array":
        refuse("vla", node)
    for one in (type_.target, *type_.parameters):
        if one is not None:
            check_type(one, node)


def decay(type_: CType) -> CType:
    """Return the type of a value after decay: arrays and functions become pointers."""
    if type_.kind == "function":
        return CType("pointer", f"{type_.spelling} *", 8, 8, target=type_)
    if type_.kind in ARRAYS:
        return CType("pointer", f"{type_.spelling} *", 8, 8, target=type_.target)
    return type_


def is_function_pointer(type_: CType) -> bool:
    return type_.kind == "pointer" and type_.target is not None and type_.target.kind == "function"


def target_of(type_: CType) -> CType:
    return type_.target or refuse("type")


def operand(node: SyntaxNode, number: int = 0) -> SyntaxNode:
    """Return an operand that the syntax requires."""
    child = node.children[number] if number < len(node.children) else None
    return child or refuse("expression", node)


def is_transparent(node: SyntaxNode) -> bool:
    return node.kind in TRANSPARENT or (node.kind == "unary" and node.operator == "__extension__")


def plain(node: SyntaxNode) -> SyntaxNode:
    """Return an expression without the parentheses around it."""
    while is_transparent(node):
        node = operand(node)
    return node


def uncast(node: SyntaxNode) -> SyntaxNode:
    """Return an expression without parentheses and casts."""
    while is_transparent(node) or node.kind in ("cast", "implicit_cast"):
        node = operand(node)
    return node


def present(nodes: Iterable[SyntaxNode | None]) -> list[SyntaxNode]:
    return [node for node in nodes if node is not None]
