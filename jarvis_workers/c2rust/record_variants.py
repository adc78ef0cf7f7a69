"""Determine which records of the units of a project are the same type.

A record has the same key in all units, but not always the same definition: macros may change it, files may define
different records of one name, and it may be incomplete in some units.  Two definitions are the same variant if their
layouts are equal and their fields refer to the same variants (partition refinement).  An incomplete record is treated
as the first complete variant.
"""

from collections.abc import Iterator, Mapping, Sequence

from jarvis_workers.source.clang.c_types import CType, Record, UnitDefinitions

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
