"""Name the field in which C and Rust differ, by following types from the arguments, the result or a global.

Bytes of a structure outside its members are padding, whose contents C does not define.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from jarvis_workers.c2rust.shadow_log import MemoryDifference
from jarvis_workers.c2rust.shapes import Records, function_shape
from jarvis_workers.source.clang.c_types import CType, Field, Record

FLOATS = {4: "<f", 8: "<d"}
ARGUMENT = "argument "


class FieldDifference(NamedTuple):
    """A field as an expression, such as `argument 0->next->size`, where "argument N" is parameter N, counted from 0.

    `c` and `rust` are its values as text: a number, an address, or hexadecimal bytes.
    """

    field: str
    c: str
    rust: str


class Location(NamedTuple):
    """A byte of a scalar or union: an expression for the object, and the offset of the byte in it.

    Padding has no type.
    """

    expression: str
    type: CType | None
    offset: int


@dataclass(frozen=True, slots=True)
class FunctionTypes:
    """The types that the names of regions refer to: of the function, globals, called functions and records."""

    function: CType
    globals: Mapping[str, CType]
    records: Records
    machine: str
    callees: Mapping[str, CType] = field(default_factory=dict)


def is_padding(difference: MemoryDifference, types: FunctionTypes) -> bool:
    """Return whether all differing bytes are padding."""
    places = [_locate(difference, types, at) for at in _differing(difference)]
    return bool(places) and all(place is not None and place.type is None for place in places)


def name_field(difference: MemoryDifference, types: FunctionTypes) -> FieldDifference | None:
    """Return the first field that differs, or None if no type describes it, as for the target of a `void *`."""
    if difference.region.kind == "call":
        return _passed_argument(difference, types)
    for at in _differing(difference):
        place = _locate(difference, types, at)
        if place is None:
            return None
        if place.type is not None:
            start = at - place.offset
            c, rust = (_value(place.type, both, start) for both in (difference.c, difference.rust))
            return FieldDifference(place.expression, c, rust)
    return None


def _passed_argument(difference: MemoryDifference, types: FunctionTypes) -> FieldDifference | None:
    """Return the argument with which another function is called."""
    name, _, register = difference.region.start.rpartition(" ")
    callee = types.callees.get(name)
    parameters = function_shape(callee, types.records, types.machine).parameters if callee else ()
    number = parameters[int(register)] if int(register) < len(parameters) else -1
    if callee is None or number < 0:
        return None
    c, rust = (_value(callee.parameters[number], both, 0) for both in (difference.c, difference.rust))
    return FieldDifference(f"{ARGUMENT}{number} of the call of {name}", c, rust)


def _differing(difference: MemoryDifference) -> list[int]:
    if difference.region.kind in ("freed", "size", "blocks", "call", "ended"):
        return []
    return [at for at, pair in enumerate(zip(difference.c, difference.rust, strict=True)) if pair[0] != pair[1]]


def _locate(difference: MemoryDifference, types: FunctionTypes, at: int) -> Location | None:
    """Return the location of byte `at` of a difference."""
    region, result = difference.region, types.function.target
    if region.kind == "result":
        return Location("result", result, at) if result and region.start in ("r0", "p0", "v0") else None
    offsets = (*region.offsets[:-1], region.offsets[-1] + at)
    place = _start(region.start, types, offsets[0])
    for offset in offsets[1:]:
        if place is None or place.offset:
            return None
        place = _pointee(place.expression, place.type, offset, types.records)
    return place


def _start(start: str, types: FunctionTypes, offset: int) -> Location | None:
    if start.startswith(ARGUMENT):
        parameters = function_shape(types.function, types.records, types.machine).parameters
        register = int(start.removeprefix(ARGUMENT))
        number = parameters[register] if register < len(parameters) else None
        if number is None:
            return None
        if number >= 0:
            return _pointee(f"{ARGUMENT}{number}", types.function.parameters[number], offset, types.records)
        start = "result"
    type_ = types.function.target if start == "result" else types.globals.get(start)
    return _member(start, type_, offset, types.records) if type_ else None


def _pointee(pointer: str, type_: CType | None, offset: int, records: Records) -> Location | None:
    target = type_.target if type_ and type_.kind == "pointer" else None
    if target is None or target.size <= 0:
        return None
    index, inside = divmod(offset, target.size)
    place = _member("", target, inside, records)
    if place is None:
        return None
    tail = place.expression
    if index:
        return place._replace(expression=f"{pointer}[{index}]{tail}")
    forms = {".": f"{pointer}->{tail[1:]}", "[": f"(*{pointer}){tail}", "": f"*{pointer}"}
    return place._replace(expression=forms[tail[:1]])


def _member(base: str, type_: CType, offset: int, records: Records) -> Location | None:
    """Return the scalar at an offset in a value of the type; None outside the value or for an unknown record."""
    if type_.kind != "incomplete_array" and not 0 <= offset < type_.size:
        return None
    if type_.kind in ("array", "incomplete_array") and type_.target and type_.target.size > 0:
        index, inside = divmod(offset, type_.target.size)
        return _member(f"{base}[{index}]", type_.target, inside, records)
    if type_.kind != "record":
        return Location(base, type_, offset)
    record = records.get(type_.key)
    return _member_of_record(base, type_, record, offset, records) if record else None


def _member_of_record(base: str, type_: CType, record: Record, offset: int, records: Records) -> Location | None:
    if record.kind == "union":
        return Location(base, type_, offset)
    for one in reversed(record.fields):
        if _holds(one, offset, last=one is record.fields[-1]):
            expression = f"{base}.{one.name}" if one.name else base
            if one.bit_field:
                return Location(expression, CType("other", one.type.spelling), offset - one.offset // 8)
            return _member(expression, one.type, offset - one.offset // 8, records)
    return Location(base, None, 0)


def _holds(field: Field, offset: int, *, last: bool) -> bool:
    if field.bit_field:
        return bool(field.width and field.name) and field.offset // 8 <= offset <= (field.offset + field.width - 1) // 8
    flexible = last and field.type.kind == "incomplete_array"
    return field.offset // 8 <= offset and (flexible or offset < field.offset // 8 + field.type.size)


def _value(type_: CType, bytes_: bytes, start: int) -> str:
    inside = bytes_[max(start, 0) : start + type_.size] if type_.size > 0 else bytes_
    if start < 0 or len(inside) != type_.size:
        return bytes_.hex()
    if type_.kind == "floating" and type_.size in FLOATS:
        return repr(struct.unpack(FLOATS[type_.size], inside)[0])
    if type_.kind == "pointer":
        return hex(int.from_bytes(inside, "little"))
    if type_.kind in ("integer", "enum", "bool"):
        signed = type_.signed or bool(type_.target and type_.target.signed)
        return str(int.from_bytes(inside, "little", signed=signed))
    return inside.hex()
