"""Conversion of a unit to and from compact JSON: symbols and references are rows, and each key is stored once.

Path bytes and characters that are invalid in UTF-8 are encoded as surrogate escapes, which JSON writes as ASCII.
"""

import json
import os
from operator import attrgetter
from typing import Any

from jarvis_workers.source.clang.unit import CParameter, Diagnostic, Extent, Reference, Unit, UnitSymbol

# Increment this whenever the format or the meaning of a unit changes, so that earlier encodings are rejected.
VERSION = 3
# The fields of a symbol that JSON holds as they are.
PLAIN = (
    *("category", "kind", "name", "qualified_name", "language", "signature", "return_type"),
    *("source_hash", "is_definition"),
)
_plain = attrgetter(*PLAIN)


def encode_unit(unit: Unit) -> bytes:
    """Return the unit as one line of JSON; equal units have equal bytes."""
    keys = sorted({key for one in unit.references for key in (one.source, one.target)} | {s.key for s in unit.symbols})
    number = {key: index for index, key in enumerate(keys)}
    document = [
        VERSION,
        [(one.severity, os.fsdecode(one.file), *one[2:]) for one in unit.diagnostics],
        os.fsdecode(unit.file),
        unit.language,
        unit.arguments_hash,
        keys,
        [
            (number[one.key], (os.fsdecode(one.extent.file), *one.extent[1:]), one.parameters, one.facts, *_plain(one))
            for one in unit.symbols
        ],
        [(number[one.source], number[one.target], one.kind) for one in unit.references],
        unit.externals,
        [os.fsdecode(path) for path in unit.includes],
    ]
    return json.dumps(document, separators=(",", ":")).encode()


def decode_unit(line: bytes) -> Unit:
    """Return the unit in a line from `encode_unit`; raise ValueError if another version wrote the line."""
    version, *fields = json.loads(line)
    if version != VERSION:
        raise ValueError(f"unsupported unit version {version}, expected {VERSION}")
    diagnostics, file, language, arguments_hash, keys, symbols, references, externals, includes = fields
    return Unit(
        file=os.fsencode(file),
        language=language,
        arguments_hash=arguments_hash,
        symbols=tuple(_symbol(row, keys) for row in symbols),
        references=tuple(Reference(keys[source], keys[target], kind) for source, target, kind in references),
        externals=tuple((key, name) for key, name in externals),
        includes=tuple(os.fsencode(path) for path in includes),
        diagnostics=_diagnostics(diagnostics),
    )


def decode_errors(line: bytes) -> tuple[Diagnostic, ...]:
    """Return the errors of the unit in a line from `encode_unit`, without decoding the rest."""
    rows, _ = json.JSONDecoder().raw_decode(line.decode(), len(f"[{VERSION},"))
    return tuple(one for one in _diagnostics(rows) if one.severity != "warning")


def _diagnostics(rows: list[Any]) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic(severity, os.fsencode(at), *rest) for severity, at, *rest in rows)


def _symbol(row: list[Any], keys: list[str]) -> UnitSymbol:
    number, (file, *place), parameters, facts, *values = row
    return UnitSymbol(
        key=keys[number],
        extent=Extent(os.fsencode(file), *place),
        parameters=tuple(CParameter(*one) for one in parameters),
        facts=tuple(facts),
        **dict(zip(PLAIN, values, strict=True)),
    )
