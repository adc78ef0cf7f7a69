"""Conversion of a unit to and from compact JSON: symbols and references are rows, and each key is stored once.

Path bytes and characters that are invalid in UTF-8 are encoded as surrogate escapes, which JSON writes as ASCII.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from jarvis_workers.paths import as_text, from_text
from jarvis_workers.source.clang.c_types import (
    CDeclaration,
    CDefinition,
    CType,
    EnumDefinition,
    Field,
    Record,
    UnitDefinitions,
)
from jarvis_workers.source.clang.syntax_tree import SyntaxNode
from jarvis_workers.source.clang.unit import CParameter, Diagnostic, Extent, Reference, Unit, UnitSymbol

# Conversion of the definitions of a unit to and from compact JSON: words, types and keys once, trees as rows.

# Raise it whenever the form or the meaning of definitions changes: earlier encodings are then not read.
VERSION = 3
MISSING = -1


def encode_definitions(unit: UnitDefinitions) -> bytes:
    """Return the definitions of a unit as one line of JSON; equal units give equal bytes."""
    words = _Words()
    types = _Types()
    records = [
        (*one[:5], [(f.name, types.of(f.type), *f[2:]) for f in one.fields], as_text(one.file), one.line)
        for one in unit.records.values()
    ]
    enums = [
        (one.key, one.name, types.of(one.type), one.constants, as_text(one.file), one.line)
        for one in unit.enums.values()
    ]
    definitions = [
        (*_place(one), int(one.internal), types.of(one.type), int(one.constant), list(_rows(one.tree, words)))
        for one in unit.definitions
    ]
    declared = [(one.key, one.name, types.of(one.type), int(one.project), one.symbol) for one in unit.declared]
    spellings = [(spelling, types.of(type_)) for spelling, type_ in unit.types.items()]
    file = as_text(unit.file)
    document = [VERSION, file, words.rows, types.rows, spellings, records, enums, declared, definitions]
    return json.dumps(document, separators=(",", ":")).encode()


def _place(one: CDefinition) -> tuple[Any, ...]:
    return one.key, one.name, (as_text(one.extent.file), *one.extent[1:])


class _Words:
    """Numbers words in the order of their first use."""

    def __init__(self) -> None:
        self.rows: list[str] = [""]
        self._numbers = {"": 0}

    def of(self, word: str) -> int:
        number = self._numbers.setdefault(word, len(self.rows))
        if number == len(self.rows):
            self.rows.append(word)
        return number


class _Types:
    """Numbers types; the types that a type refers to come before it."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self._numbers: dict[CType, int] = {}

    def of(self, type_: CType) -> int:
        number = self._numbers.get(type_)
        if number is None:
            target = MISSING if type_.target is None else self.of(type_.target)
            parameters = [self.of(one) for one in type_.parameters]
            flags = [int(one) for one in (type_.signed, type_.const, type_.variadic, type_.prototyped, type_.volatile)]
            row = (type_.kind, type_.spelling, type_.size, type_.align, type_.key, target, type_.length, parameters)
            number = self._numbers[type_] = len(self.rows)
            self.rows.append((*row, flags))
        return number


def _rows(root: SyntaxNode, words: _Words) -> Iterator[list[Any]]:
    """Yield a row per node: number of children, kind, line, and other nonzero fields; [] for an omitted child."""
    remaining: list[SyntaxNode | None] = [root]
    while remaining:
        node = remaining.pop()
        if node is None:
            yield []
            continue
        texts = (node.type, node.name, node.operator, node.target)
        row = [len(node.children), words.of(node.kind), node.line, *map(words.of, texts), node.local, node.value]
        while not (row[-1] or (len(row) == ROW and row[-1] is not None)) and len(row) > 1:
            row.pop()
        yield row
        remaining.extend(reversed(node.children))


# Columns of the row of a node.
ROW = 9
EMPTY: list[Any] = [0, 0, 0, 0, 0, 0, 0, 0, None]


def decode_definitions(line: bytes) -> UnitDefinitions:
    """Return the definitions that `encode_definitions` encoded; raise ValueError if another version encoded them."""
    version, *fields = json.loads(line)
    if version != VERSION:
        raise ValueError(f"unsupported version {version} of definitions, expected {VERSION}")
    file, words, type_rows, spellings, records, enums, declared, definitions = fields
    types: list[CType] = []
    for row in type_rows:
        types.append(_type(row, types))
    return UnitDefinitions(
        file=from_text(file),
        definitions=tuple(_definition(row, types, words) for row in definitions),
        declared=tuple(
            CDeclaration(key, name, types[number], bool(own), symbol) for key, name, number, own, symbol in declared
        ),
        types={spelling: types[number] for spelling, number in spellings},
        records={record.key: record for record in _records(records, types)},
        enums={row[0]: _enum(row, types) for row in enums},
    )


def _type(row: Sequence[Any], types: Sequence[CType]) -> CType:
    kind, spelling, size, align, key, target, length, parameters, flags = row
    signed, const, variadic, prototyped, volatile = map(bool, flags)
    return CType(
        kind,
        spelling,
        size,
        align,
        signed,
        const,
        key,
        None if target == MISSING else types[target],
        length,
        tuple(types[one] for one in parameters),
        variadic,
        prototyped,
        volatile,
    )


def _records(rows: Iterable[Sequence[Any]], types: Sequence[CType]) -> Iterator[Record]:
    for key, name, kind, size, align, fields, file, line in rows:
        own = (Field(word, types[type_], at, width, bool(bit)) for word, type_, at, width, bit in fields)
        yield Record(key, name, kind, size, align, tuple(own), from_text(file), line)


def _enum(row: Sequence[Any], types: Sequence[CType]) -> EnumDefinition:
    key, name, type_, constants, file, line = row
    pairs = tuple((constant, value) for constant, value in constants)
    return EnumDefinition(key, name, types[type_], pairs, from_text(file), line)


def _definition(row: Sequence[Any], types: Sequence[CType], words: Sequence[str]) -> CDefinition:
    key, name, (file, *place), internal, type_, constant, nodes = row
    extent = Extent(from_text(file), *place)
    return CDefinition(key, name, extent, bool(internal), types[type_], _tree(nodes, words), bool(constant))


def _tree(rows: Sequence[list[Any]], words: Sequence[str]) -> SyntaxNode:
    """Build the tree from its rows; they are read backwards, so that the children of a node are on top of the stack."""
    stack: list[SyntaxNode | None] = []
    for row in reversed(rows):
        if not row:
            stack.append(None)
            continue
        count, kind, line, type_, name, operator, target, local, value = row + EMPTY[len(row) :]
        texts = words[type_], words[name], words[operator], words[target]
        children = tuple(stack.pop() for _ in range(count))
        stack.append(SyntaxNode(words[kind], line, *texts, local, value, children))
    (root,) = stack
    if root is None:
        raise ValueError("the syntax tree has no root")
    return root


# Increment this whenever the format or the meaning of a unit changes, so that earlier encodings are rejected.
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
