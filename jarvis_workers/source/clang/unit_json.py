"""Conversion of a unit to and from compact JSON: symbols and references are rows, and each key is stored once.

Path bytes and characters that are invalid in UTF-8 are encoded as surrogate escapes, which JSON writes as ASCII.
"""

import json
import os
from typing import Any

from jarvis_workers.source.clang.unit import CParameter, Diagnostic, Extent, Reference, Unit, UnitSymbol

# Increment this whenever the format or the meaning of a unit changes, so that earlier encodings are rejected.
VERSION = 2


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
        [_symbol_row(symbol, number[symbol.key]) for symbol in unit.symbols],
        [(number[one.source], number[one.target], one.kind) for one in unit.references],
        unit.externals,
        [os.fsdecode(path) for path in unit.includes],
    ]
    return json.dumps(document, separators=(",", ":")).encode()


def decode_unit(line: bytes) -> Unit:
    """Return the unit in a line of `encode_unit`; raise ValueError if another version wrote the line."""
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
    """Return the errors of the unit in a line of `encode_unit`, without decoding the rest."""
    rows, _ = json.JSONDecoder().raw_decode(line.decode(), len(f"[{VERSION},"))
    return tuple(one for one in _diagnostics(rows) if one.severity != "warning")


def _diagnostics(rows: list[Any]) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic(severity, os.fsencode(at), *rest) for severity, at, *rest in rows)


def _symbol_row(symbol: UnitSymbol, number: int) -> tuple[Any, ...]:
    return (
        number,
        symbol.category,
        symbol.kind,
        symbol.name,
        symbol.qualified_name,
        (os.fsdecode(symbol.extent.file), *symbol.extent[1:]),
        symbol.language,
        symbol.signature,
        symbol.return_type,
        symbol.parameters,
        symbol.source_hash,
        int(symbol.is_definition),
        symbol.facts,
    )


def _symbol(row: list[Any], keys: list[str]) -> UnitSymbol:
    number, category, kind, name, qualified, (file, *place), language, signature, result, parameters, *rest = row
    source_hash, is_definition, facts = rest
    return UnitSymbol(
        key=keys[number],
        category=category,
        kind=kind,
        name=name,
        qualified_name=qualified,
        extent=Extent(os.fsencode(file), *place),
        language=language,
        signature=signature,
        return_type=result,
        parameters=tuple(CParameter(*one) for one in parameters),
        source_hash=source_hash,
        is_definition=bool(is_definition),
        facts=tuple(facts),
    )
