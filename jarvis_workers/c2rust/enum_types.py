"""Enums of C as Rust types, where a plan asks for them: fieldless enums, or structs of flags.

Functions alone use them, since C may store any number in an enum: fields and globals keep integers.  A number that is
no constant of an enum never becomes one; flags have all numbers.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from jarvis_workers.c2rust.record_names import RESERVED
from jarvis_workers.c2rust.rust import rust_text
from jarvis_workers.c2rust.rust_names import identifier
from jarvis_workers.c2rust.rust_types import origin, project_types
from jarvis_workers.source.clang.c_types import EnumDefinition, UnitDefinitions

EnumKind = Literal["enum", "flags"]
ENUM_KINDS: tuple[EnumKind, ...] = ("enum", "flags")
# A constant of flags would hide the method.
METHODS = ("contains",)
SHOWN_MAX = 100


class EnumType(NamedTuple):
    """A planned enum: its Rust name, what becomes of it, and its definition."""

    name: str
    kind: EnumKind
    definition: EnumDefinition

    @property
    def values(self) -> frozenset[int]:
        """The numbers of its constants."""
        return frozenset(value for _, value in self.definition.constants)


def plannable_enums(units: Sequence[UnitDefinitions]) -> dict[str, EnumDefinition]:
    """Return the enums with a name that means the same in all units, by their Rust name."""
    found = dict[str, dict[object, EnumDefinition]]()
    for unit in units:
        for one in unit.enums.values():
            found.setdefault(identifier(one.name), {}).setdefault((one.key, one.type, one.constants), one)
    taken = {"", *RESERVED, *project_types(units).names.names.values()}
    single = {
        name: next(iter(those.values()))
        for name, those in sorted(found.items())
        if len(those) == 1 and name not in taken
    }
    return {name: one for name, one in single.items() if one.constants and one.type.kind == "integer"}


def plan_enums(units: Sequence[UnitDefinitions], kinds: Mapping[str, str]) -> dict[str, EnumType]:
    """Return the planned enums by their key; `kinds` are by Rust name without the mark of raw identifiers."""
    found = plannable_enums(units) if kinds else {}
    return {
        one.key: EnumType(name, kind, one)
        for name, one in found.items()
        if (kind := kinds.get(name.removeprefix("r#"))) in ENUM_KINDS
    }


def enum_problems(kinds: Mapping[str, str], enums: Collection[str]) -> dict[str, str]:
    """Return what is wrong with planned enums, by name; `enums` are the names of those that can be planned."""
    problems = {
        name: f"enums: {name} cannot be {_shown(kind)}; possible: {', '.join(ENUM_KINDS)}"
        for name, kind in kinds.items()
        if kind not in ENUM_KINDS
    }
    unknown = (name for name in kinds if name not in enums)
    return problems | {
        name: f"enums: there is no enum {_shown(name)} with the same constants in all files" for name in unknown
    }


def _shown(name: str) -> str:
    return ascii(name[:SHOWN_MAX])[1:-1]


def enum_definitions(enums: Iterable[EnumType]) -> str:
    """Return the text of planned enums for types.rs."""
    ordered = sorted(enums, key=lambda one: one.name)
    shared = "\n" + rust_text("flags.rs") if any(one.kind == "flags" for one in ordered) else ""
    return shared + "".join(f"\n/// {origin(one.definition)}\n{TEXTS[one.kind](one)}" for one in ordered)


def _number(one: EnumType) -> str:
    return f"{'i' if one.definition.type.signed else 'u'}{8 * one.definition.type.size}"


def _constants(one: EnumType) -> dict[str, int]:
    """Return the constants by unique Rust name."""
    names = dict[str, int]()
    for constant, value in one.definition.constants:
        name = identifier(constant)
        while name in names or name in METHODS:
            name += "_"
        names[name] = value
    return names


def _enum(one: EnumType) -> str:
    """Return a fieldless enum; constants of the same number are names of the first of them."""
    variants, others, number = dict[int, str](), dict[str, str](), _number(one)
    for name, value in _constants(one).items():
        if variants.setdefault(value, name) != name:
            others[name] = variants[value]
    values = "".join(f"    {name} = {value},\n" for value, name in variants.items())
    arms = "".join(f"            {value} => Ok(Self::{name}),\n" for value, name in variants.items())
    names = "".join(f"    pub const {name}: Self = Self::{first};\n" for name, first in others.items())
    return (
        f"#[repr({number})]\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub enum {one.name} {{\n{values}}}\n"
        + (f"\nimpl {one.name} {{\n{names}}}\n" if names else "")
        + f"\nimpl TryFrom<{number}> for {one.name} {{\n    type Error = {number};\n\n"
        f"    fn try_from(value: {number}) -> Result<Self, {number}> {{\n        match value {{\n{arms}"
        "            _ => Err(value),\n        }\n    }\n}\n"
        f"\nimpl From<{one.name}> for {number} {{\n    fn from(value: {one.name}) -> Self {{\n        value as Self\n"
        "    }\n}\n"
    )


def _flags(one: EnumType) -> str:
    values = "".join(
        f"    pub const {name}: Self = Self {{ bits: {value} }};\n" for name, value in _constants(one).items()
    )
    derived = "Clone, Copy, Debug, Default, PartialEq, Eq, Hash"
    return (
        f"#[repr(transparent)]\n#[derive({derived})]\npub struct {one.name} {{\n    pub bits: {_number(one)},\n}}\n"
        f"\nimpl {one.name} {{\n{values}}}\n\nflags!({one.name});\n"
    )


TEXTS = {"enum": _enum, "flags": _flags}
