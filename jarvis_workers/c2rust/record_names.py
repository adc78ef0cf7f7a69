"""Rust names of records: the C names, made unique in the project."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from jarvis_workers.c2rust.record_layout import field_names
from jarvis_workers.c2rust.rust_names import identifier
from jarvis_workers.paths import as_text
from jarvis_workers.source.clang.c_types import CType, Record

# Rust names that a type of the same name would hide: primitive types, and names that bodies use.
RESERVED = frozenset(
    re.findall(
        r"\w+",
        "bool char str i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f16 f32 f64 f128 c_void core std "
        "Box Clone Copy Default Drop Eq Err Fn FnMut FnOnce From Into Iterator None Ok Option Ord PartialEq PartialOrd "
        "Result ErrorCode Send Sized Some String Sync ToOwned ToString TryFrom TryInto Unpin Vec",
    )
)
# A record, by key and variant.
RecordId = tuple[str, int]


def record_names(records: Mapping[RecordId, Record]) -> dict[RecordId, str]:
    """Return a unique name for each record: the C name, with the file if the C name is not unique.

    An unnamed record is named after the first field of its type, else after its file and line.
    """
    names: dict[RecordId, str] = {}
    taken = set(RESERVED)
    fields = _naming_fields(records)
    # Named records first, of them complete ones, and of these those that all files share.
    for one in sorted(records, key=lambda one: (not records[one].name, records[one].size < 0, "#" in one[0], *one)):
        record = records[one]
        plain = identifier(record.name) if record.name else _derived(one, records, names, fields)
        candidates = [plain, f"{_stem(record)}__{plain.removeprefix('r#')}"]
        names[one] = name = _free(candidates, taken)
        taken.add(name)
    return names


def _free(candidates: list[str], taken: set[str]) -> str:
    for name in candidates:
        if name not in taken:
            return name
    number = 2
    while f"{candidates[-1]}_{number}" in taken:
        number += 1
    return f"{candidates[-1]}_{number}"


def _naming_fields(records: Mapping[RecordId, Record]) -> dict[str, tuple[RecordId, str]]:
    """Return, for each unnamed record, the first record with a field of its type, and the name of that field."""
    fields: dict[str, tuple[RecordId, str]] = {}
    for one in sorted(records):
        for field, name in zip(records[one].fields, field_names(records[one]), strict=True):
            if key := _element(field.type).key:
                fields.setdefault(key, (one, name))
    return fields


def _element(type_: CType) -> CType:
    while type_.kind in ("pointer", "array", "incomplete_array") and type_.target is not None:
        type_ = type_.target
    return type_


def _derived(
    one: RecordId,
    records: Mapping[RecordId, Record],
    names: Mapping[RecordId, str],
    fields: Mapping[str, tuple[RecordId, str]],
) -> str:
    if one[0] in fields:
        parent, name = fields[one[0]]
        if parent in names:
            return f"{names[parent].removeprefix('r#')}_{name.removeprefix('r#')}"
    return f"anonymous_{_stem(records[one])}_{records[one].line}"


def _stem(record: Record) -> str:
    return re.sub(r"\W", "_", PurePosixPath(as_text(record.file)).stem, flags=re.ASCII)
