"""The types of a project in Rust: names, spellings, and the text of types.rs.

Each record has one name in all units, and its size, alignment and offsets are asserted when the crate is compiled.
Bit-fields are stored in arrays of bytes, with the methods `b()` and `set_b(value)`.  Enums become their
integer types; `project.py` has those that a plan names.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from jarvis_workers.c2rust.rust import rust_text
from jarvis_workers.c2rust.rust_names import BitField, RecordLayout, RustField, lay_out, record_names
from jarvis_workers.paths import shown
from jarvis_workers.source.clang.c_types import CType, EnumDefinition, Record, TypeKind, UnitDefinitions

# Determine which records of the units of a project are the same type.

# The number of a variant of each record of a unit, by key.
Variants = Mapping[str, int]


def record_variants(units: Sequence[UnitDefinitions]) -> tuple[list[Variants], dict[tuple[str, int], Record]]:
    """Return the variants of each unit's records, and the record of each key and variant."""
    numbers = [dict.fromkeys(unit.records, 0) for unit in units]
    count = -1
    records: dict[tuple[str, int], Record] = {}
    while count < len(records):
        count = len(records)
        numbers, records = _refine(units, numbers)
        if all(variant == 0 for _, variant in records):
            break
    return list(numbers), records


def _refine(
    units: Sequence[UnitDefinitions], numbers: Sequence[Variants]
) -> tuple[list[dict[str, int]], dict[tuple[str, int], Record]]:
    """Refine the variants in `numbers`; return the new variants, and the record of each."""
    refined: list[dict[str, int]] = []
    records: dict[tuple[str, int], Record] = {}
    signatures: dict[str, list[object]] = {}
    for unit, variants in zip(units, numbers, strict=True):
        mine: dict[str, int] = {}
        for key, record in unit.records.items():
            if record.size < 0:
                continue
            if all(number == 0 for number in variants.values()) and records.get((key, 0)) == record:
                mine[key] = 0
                continue
            signature = (record.kind, record.size, record.align, tuple(_fields(record, variants)))
            own = signatures.setdefault(key, [])
            if signature not in own:
                records[key, len(own)] = record
                own.append(signature)
            mine[key] = own.index(signature)
        refined.append(mine)
    for unit, mine in zip(units, refined, strict=True):
        for key, record in unit.records.items():
            records.setdefault((key, mine.setdefault(key, 0)), record)
    return refined, records


def _fields(record: Record, variants: Variants) -> Iterator[tuple[object, ...]]:
    for one in record.fields:
        yield one.name, one.offset, one.width, one.bit_field, _shape(one.type, variants)


def _shape(type_: CType, variants: Variants) -> tuple[object, ...]:
    """Return the identity of a type: for a record its variant, even if the record is incomplete in this unit."""
    if type_.kind == "record":
        return type_.key, variants.get(type_.key, 0)
    target = None if type_.target is None else _shape(type_.target, variants)
    parameters = tuple(_shape(one, variants) for one in type_.parameters)
    return type_.kind, type_.size, type_.signed, type_.const, type_.length, type_.variadic, target, parameters


# Represents a type that Rust lacks, such as long double, in records, with its size and alignment.
FOREIGN = re.compile(r"\bForeign(\d+)Align(\d+)\b")


@dataclass(frozen=True, slots=True)
class TypeNames:
    """The Rust names of the types and fields of a unit."""

    names: Mapping[tuple[str, int], str]
    layouts: Mapping[tuple[str, int], RecordLayout] = field(repr=False)
    variants: Variants = field(default_factory=dict, repr=False)

    def record(self, key: str) -> str:
        """Return the name of a record."""
        return self.names[key, self.variants.get(key, 0)]

    def rust_type(self, type_: CType) -> str:
        """Return a type in Rust; see the function `rust_type`."""
        return rust_type(type_, self)

    def field_name(self, key: str, index: int) -> str:
        """Return the name of a field, or the name of the accessors of a bit-field: `b()` and `set_b(value)`.

        It is "" for anything inaccessible from Rust: padding, and fields of a record that is both packed and aligned.
        """
        layout = self.layouts.get((key, self.variants.get(key, 0)))
        return layout.names[index] if layout else ""

    def bit_field(self, key: str, index: int) -> BitField | None:
        """Return the position of a bit-field, or None for padding and other fields."""
        layout = self.layouts.get((key, self.variants.get(key, 0)))
        found = [one for one in layout.bit_fields if one.name == layout.names[index]] if layout else []
        return found[0] if found else None

    def is_padded(self, key: str) -> bool:
        """Return whether the Rust type has fields that the C type lacks: padding, or a field for alignment."""
        layout = self.layouts.get((key, self.variants.get(key, 0)))
        return layout is not None and any(one.field is None for one in layout.fields)


@dataclass(frozen=True, slots=True)
class ProjectTypes:
    """The records of all units, by key and variant; their names; and the names visible in each unit, by its file."""

    records: Mapping[tuple[str, int], Record]
    units: Mapping[bytes, TypeNames]
    names: TypeNames
    owners: Mapping[tuple[str, int], TypeNames] = field(repr=False)

    def of(self, unit: UnitDefinitions) -> TypeNames:
        """Return the names that are visible in a unit."""
        return self.units[unit.file]


def project_types(units: Sequence[UnitDefinitions]) -> ProjectTypes:
    """Return the types of the units of a project.

    Their names do not depend on the order of units of different files.
    """
    ordered = sorted(units, key=lambda unit: unit.file)
    variants, records = record_variants(ordered)
    names = record_names(records)
    layouts = {one: lay_out(record) for one, record in records.items() if record.size >= 0}
    views = [TypeNames(names, layouts, {key: one for key, one in mine.items() if one}) for mine in variants]
    owners: dict[tuple[str, int], TypeNames] = {}
    for unit, mine, view in zip(ordered, variants, views, strict=True):
        for key, record in unit.records.items():
            if record.size >= 0:
                owners.setdefault((key, mine[key]), view)
    # If a file has several units, the first is used, as for definitions.
    units_by_file = {unit.file: view for unit, view in zip(ordered[::-1], views[::-1], strict=True)}
    return ProjectTypes(records, units_by_file, TypeNames(names, layouts), owners)


def is_translatable(type_: CType) -> bool:
    """Return whether Rust supports the type: no `long double`, vector, complex number, atomic or variable array."""
    parts = (type_.target, *type_.parameters)
    own = type_.kind not in ("other", "variable_array")
    return own and all(is_translatable(part) for part in parts if part is not None)


def rust_type(type_: CType, names: TypeNames) -> str:
    """Return a type in Rust. An unsupported type is named after its size and alignment; only types.rs declares it."""
    return SPELLINGS[type_.kind](type_, names)


def _integer(type_: CType, _names: TypeNames) -> str:
    return f"{'i' if type_.signed else 'u'}{type_.size * 8}"


def _function(type_: CType, names: TypeNames) -> str:
    return f'unsafe extern "C" fn({_parameters(type_, names)}){result(type_, names)}'


def _target(type_: CType, names: TypeNames) -> str:
    return "c_void" if type_.target is None else rust_type(type_.target, names)


def _pointer(type_: CType, names: TypeNames) -> str:
    target = _target(type_, names)
    if type_.target is not None and type_.target.kind == "function":
        return f"Option<{target}>"
    return f"*{'const' if type_.const else 'mut'} {target}"


def _array(type_: CType, names: TypeNames) -> str:
    return f"[{_target(type_, names)}; {type_.length}]"


SPELLINGS: dict[TypeKind, Callable[[CType, TypeNames], str]] = {
    "void": lambda _type, _names: "c_void",
    "bool": lambda _type, _names: "bool",
    "integer": _integer,
    "floating": lambda type_, _names: f"f{type_.size * 8}",
    "enum": _target,
    "record": lambda type_, names: names.record(type_.key),
    "pointer": _pointer,
    "array": _array,
    "incomplete_array": _array,
    "variable_array": _array,
    "function": _function,
    "other": lambda type_, _names: f"Foreign{max(type_.size, 0)}Align{max(type_.align, 1)}",
}


def _parameters(type_: CType, names: TypeNames) -> str:
    return ", ".join([rust_type(one, names) for one in type_.parameters] + ["..."] * type_.variadic)


def result(type_: CType, names: TypeNames) -> str:
    """Return the result of a function type in Rust, including the arrow, or "" for void."""
    target = type_.target
    return "" if target is None or target.kind == "void" else f" -> {rust_type(target, names)}"


def type_definitions(types: ProjectTypes) -> str:
    """Return the text of types.rs: all records sorted by name, with assertions on their layout."""
    ordered = sorted(types.records, key=lambda one: types.names.names[one])
    text = "".join(f"\n{_definition(types, one)}" for one in ordered)
    foreign = "".join(_foreign(int(size), int(align)) for size, align in sorted(set(FOREIGN.findall(text))))
    accessors = "\n" + rust_text("bit_fields.rs") if "get_bits(" in text else ""
    return rust_text("types.rs") + accessors + foreign + text


def _foreign(size: int, align: int) -> str:
    return (
        f"\n#[repr(C, align({align}))]\n#[derive(Clone, Copy)]\npub struct Foreign{size}Align{align}([u8; {size}]);\n"
    )


def _definition(types: ProjectTypes, one: tuple[str, int]) -> str:
    record, name = types.records[one], types.names.names[one]
    heading = f"/// {origin(record)}\n"
    if record.size < 0:
        return f"{heading}#[repr(C)]\npub struct {name} {{\n    _opaque: [u8; 0],\n}}\n"
    layout, names = types.names.layouts[one], types.owners[one]
    kind = "union" if layout.union else "struct"
    fields = "".join(_field(one, names) for one in layout.fields)
    body = f"{{\n{fields}}}" if fields else "{}"
    offsets = "".join(f", {one.name} @ {one.offset}" for one in layout.fields)
    assertion = f"assert_layout!({name}, {record.size}, {record.align}{offsets});\n"
    definition = f"#[repr({_representation(layout)})]\n#[derive(Clone, Copy)]\npub {kind} {name} {body}\n"
    return heading + definition + assertion + _accessors(name, layout, names)


def origin(record: Record | EnumDefinition) -> str:
    """Return the C name, and the file without parts that differ between machines."""
    path = PurePosixPath(shown(record.file))
    file = path.name if path.is_absolute() else str(path)
    kind = record.kind if isinstance(record, Record) else "enum"
    words = f"{kind} {record.name}".rstrip()
    return re.sub(r"\s+", " ", f"`{words}`, {file}:{record.line}" if file else f"`{words}`")


def _representation(layout: RecordLayout) -> str:
    words = ["C"] + [f"packed({layout.packed})"] * bool(layout.packed) + [f"align({layout.align})"] * bool(layout.align)
    return ", ".join(words)


def _field(one: RustField, names: TypeNames) -> str:
    if one.field is None:
        return f"    pub {one.name}: [{one.element}; {one.size}],\n"
    return f"    pub {one.name}: {rust_type(one.field.type, names)},\n"


def _accessors(name: str, layout: RecordLayout, names: TypeNames) -> str:
    if not layout.bit_fields:
        return ""
    methods = "".join(line for one in layout.bit_fields for line in _accessors_of(one, layout.union, names))
    return f"impl {name} {{\n{methods}}}\n"


def _accessors_of(one: BitField, union: bool, names: TypeNames) -> Iterator[str]:
    type_ = one.field.type
    number = type_.target if type_.kind == "enum" and type_.target else type_
    spelled, width = rust_type(type_, names), one.field.width
    blob, wrap = f"self.{one.blob}", ("unsafe { %s }" if union else "%s")
    yield f"    pub fn {one.name}(&self) -> {spelled} {{\n"
    yield f"        let bits = {wrap % f'get_bits(&{blob}, {one.first}, {width})'};\n"
    if number.kind == "bool":
        yield "        bits != 0\n    }\n"
    elif number.signed:
        yield f"        ((bits << {64 - width}) as i64 >> {64 - width}) as {spelled}\n    }}\n"
    else:
        yield f"        bits as {spelled}\n    }}\n"
    setting = wrap % f"set_bits(&mut {blob}, {one.first}, {width}, value as u64)"
    yield f"    pub fn set_{one.name}(&mut self, value: {spelled}) {{\n        {setting}\n    }}\n"
