"""C names as Rust identifiers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from jarvis_workers.paths import as_text
from jarvis_workers.source.clang.c_types import CType, Field, Record

# https://doc.rust-lang.org/reference/keywords.html: strict, reserved, and those of later editions.
KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen "
        "if impl in let loop macro match mod move mut override priv pub ref return self static struct super trait true "
        "try type typeof unsafe unsized use virtual where while yield Self",
    )
)
# These four cannot be raw identifiers.
NEVER_RAW = frozenset(("crate", "self", "super", "Self"))
NOT_ASCII = re.compile(r"[^A-Za-z0-9_]")


def identifier(name: str) -> str:
    """Return a name as an identifier: `r#type` for a keyword, hexadecimal codes for characters that Rust may reject."""
    plain = NOT_ASCII.sub(lambda match: f"_u{ord(match[0]):x}_", name)
    if plain in NEVER_RAW or plain == "_":
        return f"{plain}_"
    return f"r#{plain}" if plain in KEYWORDS else plain


# The layout of a C record in Rust: fields, padding, and bytes that contain bit-fields.

# An array of these without elements aligns a record, also within a packed one, which `repr(align)` may not be.
ALIGNING = {2: "u16", 4: "u32", 8: "u64", 16: "u128"}
MAX_BITS = 64


class RustField(NamedTuple):
    """A field of the Rust type; `offset` and `size` are in bytes. It has a C type, or is an array of `element`."""

    name: str
    offset: int
    size: int
    field: Field | None = None
    element: str = "u8"


class BitField(NamedTuple):
    """A bit-field: the bits from `first` on in the bytes of the field `blob`."""

    name: str
    blob: str
    first: int
    field: Field


@dataclass(slots=True)
class RecordLayout:
    """The fields in Rust, and the name of each C field by index, "" for padding and inaccessible fields.

    A bit-field `b` has the methods `b()` and `set_b(value)`.  `union` means a Rust union; a union without fields is a
    struct.  `packed` and `align` are in bytes, 0 if not needed.
    """

    names: tuple[str, ...]
    fields: list[RustField] = field(default_factory=list)
    bit_fields: list[BitField] = field(default_factory=list)
    union: bool = False
    packed: int = 0
    align: int = 0


def lay_out(record: Record) -> RecordLayout:
    """Return the layout of a complete record."""
    layout = RecordLayout(field_names(record))
    natural = max((one.type.align for one in record.fields if not one.bit_field), default=1)
    layout.packed = record.align if natural > record.align else 0
    layout.union = record.kind == "union"
    laid_out = _fill_union(record, layout) if layout.union else _fill_struct(record, layout)
    return layout if laid_out else _bytes(record)


def field_names(record: Record) -> tuple[str, ...]:
    """Return the Rust name of each field: `anon_0`, `anon_1`, … for anonymous members, "" for padding."""
    taken = {one.name for one in record.fields}
    names = []
    for number, one in enumerate(record.fields):
        if one.name:
            keyword = one.bit_field and one.name in KEYWORDS
            names.append(f"{one.name}_" if keyword else identifier(one.name))
        elif one.bit_field:
            names.append("")
        else:
            before = sum(not other.name and not other.bit_field for other in record.fields[:number])
            names.append(_fresh(f"anon_{before}", taken))
    return tuple(names)


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


class _Filling:
    """Appends fields; `place` fails if Rust would place a field at another offset."""

    def __init__(self, record: Record, layout: RecordLayout) -> None:
        self.layout = layout
        self.taken = {one.name for one in record.fields} | set(layout.names)
        self.end = 0
        self.align = 1
        self._cap = layout.packed or record.align

    def place(self, one: RustField, align: int) -> bool:
        align = min(align, self._cap)
        if one.offset < self.end or one.offset % align:
            return False
        if one.offset > -(-self.end // align) * align:
            self.pad(one.offset)
        self.layout.fields.append(one)
        self.end = one.offset + one.size
        self.align = max(self.align, align)
        return True

    def pad(self, end: int) -> None:
        name = _fresh(f"padding_{self.end}", self.taken)
        self.layout.fields.append(RustField(name, self.end, end - self.end))
        self.end = end

    def finish(self, record: Record) -> bool:
        if record.align > self.align:
            self._raise_align(record.align)
        natural = -(-self.end // record.align) * record.align
        if record.size > natural:
            self.pad(record.size)
        return record.size >= natural

    def _raise_align(self, align: int) -> None:
        if align in ALIGNING:
            self.layout.fields.insert(0, RustField(_fresh("align", self.taken), 0, 0, element=ALIGNING[align]))
        else:
            self.layout.align = align


def _fill_struct(record: Record, layout: RecordLayout) -> bool:
    filling = _Filling(record, layout)
    for run in _runs(record.fields):
        if run[0][1].bit_field:
            placed = _place_bits(run, filling)
        else:
            ((number, one),) = run
            fits = one.offset % 8 == 0 and not (layout.packed and one.type.align > max(ALIGNING))
            rust = RustField(layout.names[number], one.offset // 8, max(one.type.size, 0), one)
            placed = fits and filling.place(rust, one.type.align)
        if not placed:
            return False
    return filling.finish(record)


def _runs(fields: Sequence[Field]) -> Iterator[list[tuple[int, Field]]]:
    """Yield fields one by one, but consecutive bit-fields together."""
    run: list[tuple[int, Field]] = []
    for number, one in enumerate(fields):
        if one.bit_field:
            run.append((number, one))
            continue
        if run:
            yield run
            run = []
        yield [(number, one)]
    if run:
        yield run


def _place_bits(run: Sequence[tuple[int, Field]], filling: _Filling) -> bool:
    stored = [(number, one) for number, one in run if one.width]
    if not stored:
        return True
    begin = stored[0][1].offset // 8
    end = max(-(-(one.offset + one.width) // 8) for _, one in stored)
    blob = _fresh(f"bits_{begin}", filling.taken)
    for number, one in stored:
        if name := filling.layout.names[number]:
            filling.layout.bit_fields.append(BitField(name, blob, one.offset - begin * 8, one))
    fits = all(one.width <= MAX_BITS for _, one in stored)
    return fits and filling.place(RustField(blob, begin, end - begin), 1)


def _fill_union(record: Record, layout: RecordLayout) -> bool:
    filling = _Filling(record, layout)
    size = 0
    for number, one in enumerate(record.fields):
        filling.end = 0
        if one.bit_field:
            placed = _place_bits([(number, one)], filling)
        else:
            rust = RustField(layout.names[number], one.offset // 8, max(one.type.size, 0), one)
            placed = filling.place(rust, one.type.align)
        if not placed or one.offset:
            return False
        size = max(size, filling.end)
    filling.end = 0
    if -(-size // record.align) * record.align < record.size:
        filling.pad(record.size)
    filling.end = max(size, filling.end)
    return filling.finish(record) and bool(layout.fields)


def _bytes(record: Record) -> RecordLayout:
    layout = RecordLayout(("",) * len(record.fields))
    filling = _Filling(record, layout)
    filling.place(RustField("bytes", 0, record.size), 1)
    filling.finish(record)
    return layout


# Rust names of records: the C names, made unique in the project.

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
        for member, name in zip(records[one].fields, field_names(records[one]), strict=True):
            if key := _element(member.type).key:
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
