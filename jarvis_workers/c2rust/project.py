"""The functions and globals of a whole project, with the names that a crate and the slots give them."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from jarvis_workers.c2rust.function_copies import copy_refusals, is_unit_variable
from jarvis_workers.c2rust.linkage_variants import with_one_linkage
from jarvis_workers.c2rust.rust import rust_text
from jarvis_workers.c2rust.rust_names import KEYWORDS, RESERVED, identifier
from jarvis_workers.c2rust.rust_types import origin, project_types
from jarvis_workers.c2rust.slots import MAIN, unit_name
from jarvis_workers.paths import as_text
from jarvis_workers.source.clang.c_types import CDeclaration, CDefinition, EnumDefinition, UnitDefinitions

# Enums of C as Rust types, where a plan asks for them: fieldless enums, or structs of flags.

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


SEVERAL_PROGRAMS = "defined in several files, only one of which is linked into a program"
# Modules of the crate itself, and words that cannot name a module.
RESERVED_MODULES = frozenset(
    ("c", "types", "lib", "main", "mod", "core", "std", "crate", "self", "super", "test", "golden_tests")
)


class ProjectItem(NamedTuple):
    """A function or global defined in the project.

    `slot` is its slot name in the programs, `rust_name` its unique name in the crate, `module` the path of its module:
    that of its file, unless a plan moves it (`place_functions`).  If it is not `translatable`, `refusal` is the reason.
    """

    definition: CDefinition
    unit: UnitDefinitions
    slot: str
    rust_name: str
    module: str
    refusal: str = ""

    @property
    def is_function(self) -> bool:
        return self.definition.type.kind == "function"

    @property
    def file(self) -> str:
        """The file of the definition, relative to the root."""
        return as_text(self.definition.extent.file)


@dataclass(frozen=True, slots=True)
class Project:
    """The definitions of a project. `items` are ordered by file and line; `declared` are those used but not defined.

    `enums` are those that a plan makes types in Rust, by key.
    """

    units: tuple[UnitDefinitions, ...]
    items: tuple[ProjectItem, ...]
    declared: Mapping[str, CDeclaration]
    names: Mapping[str, str] = field(repr=False)
    enums: Mapping[str, EnumType] = field(default_factory=dict)

    @property
    def functions(self) -> tuple[ProjectItem, ...]:
        return tuple(item for item in self.items if item.is_function)

    @property
    def globals(self) -> tuple[ProjectItem, ...]:
        return tuple(item for item in self.items if not item.is_function)

    def names_in(self, unit: UnitDefinitions) -> Mapping[str, str]:
        """Return the Rust names of functions and globals by key, as a unit refers to them."""
        own = {one.key: slot_name(one, unit) for one in unit.definitions if _has_own_name(one, unit)}
        return {**self.names, **own} if own else self.names


def read_project(units: Iterable[UnitDefinitions]) -> Project:
    """Return the project of some units; the order of the units does not matter.

    A definition in several units, such as one in a header, is taken from the first unit by file name; a mutable static
    variable is a separate item in each unit.
    """
    ordered = with_one_linkage(sorted(units, key=lambda unit: unit.file))
    found: dict[tuple[str, bytes, bytes], tuple[CDefinition, UnitDefinitions]] = {}
    declared: dict[str, CDeclaration] = {}
    for unit in ordered:
        for definition in unit.definitions:
            own = unit.file if is_unit_variable(definition, unit) else b""
            found.setdefault((definition.key, definition.extent.file, own), (definition, unit))
        for one in unit.declared:
            declared.setdefault(one.key, one)
    definitions = sorted(found.values(), key=lambda one: (*one[0].extent[:3], one[0].key))
    files = Counter(definition.key for definition, _ in definitions if not definition.internal)
    copies = copy_refusals(ordered)
    names = _unique_names(definitions, declared.values())
    modules = module_names(as_text(definition.extent.file) for definition, _ in definitions)
    items = tuple(
        ProjectItem(
            definition,
            unit,
            slot_name(definition, unit),
            slot_name(definition, unit) if _has_own_name(definition, unit) else names[definition.key],
            modules[as_text(definition.extent.file)],
            SEVERAL_PROGRAMS
            if files[definition.key] > 1 and not is_main(definition)
            else copies.get(definition.key, ""),
        )
        for definition, unit in definitions
    )
    for item in items:
        declared.pop(item.definition.key, None)
    return Project(ordered, items, declared, names)


def place_functions(project: Project, modules: Mapping[str, str]) -> Project:
    """Return a project whose functions are in some modules, by plain Rust name; all others stay where they are."""
    items = (
        one._replace(module=modules.get(plain_name(one), one.module)) if one.is_function else one
        for one in project.items
    )
    return replace(project, items=tuple(items))


def plain_name(item: ProjectItem) -> str:
    """Return the name of an item in the crate, without the mark of raw identifiers."""
    return item.rust_name.removeprefix("r#")


def is_main(definition: CDefinition) -> bool:
    """Return whether a definition is the entry point of a program."""
    return definition.name == MAIN and not definition.internal and definition.type.kind == "function"


def _has_own_name(definition: CDefinition, unit: UnitDefinitions) -> bool:
    return is_main(definition) or is_unit_variable(definition, unit)


def slot_name(definition: CDefinition, unit: UnitDefinitions) -> str:
    """Return the name of a function's slot, or of a global in the programs: see `c2rust/slots.py`.

    Compilers do not record where a variable is defined, so a static variable of a header is named after its unit.
    """
    if not definition.internal and not is_main(definition):
        return definition.name
    file = definition.extent.file if definition.type.kind == "function" else unit.file
    return f"{unit_name(as_text(file))}__{definition.name}"


def module_names(files: Iterable[str]) -> dict[str, str]:
    """Return the module of each file: its base name in snake case, or its path if the base name is not unique."""
    ordered = sorted(set(files))
    short = {file: _module(PurePosixPath(file).stem) for file in ordered}
    count = Counter(short.values())
    chosen: dict[str, str] = {}
    for file in ordered:
        name = short[file] if count[short[file]] == 1 else _module(re.sub(r"\W", "_", file))
        while name in chosen.values():
            name += "_"
        chosen[file] = name
    return chosen


def _module(name: str) -> str:
    plain = re.sub(r"\W", "_", name, flags=re.ASCII).lower()
    plain = f"c_{plain}" if not plain[:1].isalpha() else plain
    return f"{plain}_c" if plain in RESERVED_MODULES or plain in KEYWORDS else plain


def _unique_names(
    definitions: Sequence[tuple[CDefinition, UnitDefinitions]], declared: Iterable[CDeclaration]
) -> dict[str, str]:
    """Return the name of each function and global by key: the C name if it is unique, else the name of the slot."""
    by_key = {one.key: one.name for one in declared} | {one.key: one.name for one, _ in definitions}
    count = Counter(by_key.values())
    internal = {one.key: slot_name(one, unit) for one, unit in definitions if one.internal and count[one.name] > 1}
    return {key: identifier(internal.get(key, name)) for key, name in by_key.items()}
