"""The types of a unit as values: each spelling identifies one canonical type, and each record has its layout.

Spellings are looked up once per type, not per node, so that types cost little compared with the walk over the cursors.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from jarvis_workers.source.clang.c_types import CType, EnumDefinition, Field, Record
from jarvis_workers.source.clang.c_types import TypeKind as CTypeKind
from jarvis_workers.source.clang.declarations import DeclarationKeys
from jarvis_workers.source.clang.kinds import BASIC_TYPES, CursorKind, TypeKind
from jarvis_workers.source.clang.libclang import CONTINUE, ClangType, Cursor, FieldVisitor, children, library, text
from jarvis_workers.source.clang.translation_unit import TranslationUnit

# A type of pointers to functions of pointers … is not read any deeper.
MAX_DEPTH = 50
ARRAY_KINDS: tuple[CTypeKind, ...] = ("array", "incomplete_array", "variable_array")
# Of the x86-64 and AArch64 targets.
POINTER_SIZE = 8
# libclang crashes when it is asked for the size of a type of any other kind, such as that of a builtin function.
EXPOSED = frozenset((*BASIC_TYPES, *TypeKind))


class TypeReader:
    def __init__(self, unit: TranslationUnit, keys: DeclarationKeys) -> None:
        self._unit = unit
        self._keys = keys
        self._lib = library()
        self._spellings: dict[tuple[int, int | None], str] = {}
        self._canonical: dict[str, int | None] = {}
        self._clang_types: dict[str, ClangType] = {}
        self._adjusted: dict[str, CType] = {}
        self._types: dict[int | None, CType] = {}
        self._records: dict[str, Cursor] = {}
        self._enums: dict[str, tuple[Cursor, CType]] = {}
        self._parts: dict[CTypeKind, Callable[[ClangType, int], dict[str, Any]]] = {
            "pointer": self._pointer,
            **dict.fromkeys(ARRAY_KINDS, self._array),
            "function": self._function,
            "enum": self._enum,
            "record": self._named_record,
        }

    def spell(self, type_: ClangType) -> str:
        """Return clang's spelling of a type, with a number if types of several scopes have the same spelling."""
        identity = (type_.kind, type_.pointer)
        found = self._spellings.get(identity)
        if found is None:
            found = self._spellings[identity] = self._distinct(type_)
        return found

    def _distinct(self, type_: ClangType) -> str:
        canonical = self._lib.clang_getCanonicalType(type_).pointer
        spelling = one = self._unit.without_root(text(self._lib.clang_getTypeSpelling(type_)))
        number = 1
        while one in self._adjusted or self._canonical.setdefault(one, canonical) != canonical:
            if self._adjusted.get(one) == self.read(type_):
                return one
            number += 1
            one = f"{spelling}#{number}"
        self._clang_types[one] = type_
        return one

    def spell_adjusted(self, type_: ClangType) -> str:
        """Return the spelling of the type of a parameter or value: an array or function is a pointer.

        libclang names these types as they are written (C11 6.7.6.3p7 and p8).
        """
        written = self.read(type_)
        if written.kind not in (*ARRAY_KINDS, "function"):
            return self.spell(type_)
        pointer = _pointer_to(type_, written)
        number, one = 1, pointer.spelling
        while one in self._clang_types or self._adjusted.setdefault(one, pointer) != pointer:
            if one in self._clang_types and self.read(self._clang_types[one]) == pointer:
                break
            number += 1
            one = f"{pointer.spelling}#{number}"
        return one

    def types(self) -> dict[str, CType]:
        """Return the type of each spelling that `spell` and `spell_adjusted` have returned."""
        return self._adjusted | {spelling: self.read(type_) for spelling, type_ in self._clang_types.items()}

    def read(self, type_: ClangType, depth: int = 0) -> CType:
        """Return the canonical type as a value."""
        canonical = self._lib.clang_getCanonicalType(type_)
        found = self._types.get(canonical.pointer)
        if found is None:
            found = self._read(canonical, depth) if canonical.kind in EXPOSED else CType("other", "")
            if depth < MAX_DEPTH:
                self._types[canonical.pointer] = found
        return found

    def _read(self, type_: ClangType, depth: int) -> CType:
        lib = self._lib
        kind, signed = BASIC_TYPES.get(type_.kind, ("other", False))
        sized = kind not in ("void", "function") and depth < MAX_DEPTH
        plain = CType(
            kind if depth < MAX_DEPTH else "other",
            self._unit.without_root(text(lib.clang_getTypeSpelling(lib.clang_getUnqualifiedType(type_)))),
            max(lib.clang_Type_getSizeOf(type_), -1) if sized else -1,
            max(lib.clang_Type_getAlignOf(type_), -1) if sized else -1,
            signed,
            volatile=bool(lib.clang_isVolatileQualifiedType(type_)),
        )
        parts = self._parts.get(plain.kind)
        return replace(plain, **parts(type_, depth + 1)) if parts else plain

    def _pointer(self, type_: ClangType, depth: int) -> dict[str, Any]:
        pointee = self._lib.clang_getPointeeType(type_)
        return {"const": bool(self._lib.clang_isConstQualifiedType(pointee)), "target": self.read(pointee, depth)}

    def _array(self, type_: ClangType, depth: int) -> dict[str, Any]:
        element = self.read(self._lib.clang_getArrayElementType(type_), depth)
        return {"target": element, "length": max(self._lib.clang_getArraySize(type_), 0)}

    def _function(self, type_: ClangType, depth: int) -> dict[str, Any]:
        prototyped = type_.kind == TypeKind.FUNCTION
        parameters = range(max(self._lib.clang_getNumArgTypes(type_), 0))
        return {
            "target": self.read(self._lib.clang_getResultType(type_), depth),
            "parameters": tuple(self.read(self._lib.clang_getArgType(type_, one), depth) for one in parameters),
            "variadic": prototyped and bool(self._lib.clang_isFunctionTypeVariadic(type_)),
            "prototyped": prototyped,
        }

    def _enum(self, type_: ClangType, depth: int) -> dict[str, Any]:
        cursor = definition_of(type_)
        integer = self.read(self._lib.clang_getEnumDeclIntegerType(cursor), depth)
        key = self._keys.type_key(cursor)
        self._enums.setdefault(key, (cursor, integer))
        return {"key": key, "target": integer}

    def _named_record(self, type_: ClangType, _depth: int) -> dict[str, Any]:
        cursor = definition_of(type_)
        key = self._keys.type_key(cursor)
        self._records.setdefault(key, cursor)
        return {"key": key}

    def records(self) -> dict[str, Record]:
        """Return the records that the types read so far refer to, and the records of their fields, sorted by key."""
        records: dict[str, Record] = {}
        while missing := self._records.keys() - records.keys():
            for key in missing:
                records[key] = self._record(key, self._records[key])
        return dict(sorted(records.items()))

    def _record(self, key: str, cursor: Cursor) -> Record:
        type_ = self._lib.clang_getCursorType(cursor)
        file, line = _place(cursor, self._unit)
        return Record(
            key=key,
            name=self._keys.type_name(cursor),
            kind="union" if cursor.kind == CursorKind.UNION else "struct",
            size=max(self._lib.clang_Type_getSizeOf(type_), -1),
            align=max(self._lib.clang_Type_getAlignOf(type_), -1),
            fields=tuple(_field(self, one) for one in fields_of(type_)),
            file=file,
            line=line,
        )

    def enums(self) -> dict[str, EnumDefinition]:
        """Return the enums that the types read so far refer to, sorted by key."""
        return {
            key: EnumDefinition(
                key, self._keys.type_name(cursor), integer, _constants(cursor, integer), *_place(cursor, self._unit)
            )
            for key, (cursor, integer) in sorted(self._enums.items())
        }


def _field(types: TypeReader, cursor: Cursor) -> Field:
    lib = library()
    bit_field = lib.clang_Cursor_isBitField(cursor)
    return Field(
        field_name(cursor),
        types.read(lib.clang_getCursorType(cursor)),
        lib.clang_Cursor_getOffsetOfField(cursor),
        lib.clang_getFieldDeclBitWidth(cursor) if bit_field else 0,
        bool(bit_field),
    )


def _constants(cursor: Cursor, integer: CType) -> tuple[tuple[str, int], ...]:
    """Return the names and values of the constants of an enum."""
    lib = library()
    # libclang returns the bits of an unsigned constant as a signed number.
    mask = -1 if integer.signed else (1 << 8 * max(integer.size, 0)) - 1
    return tuple(
        (text(lib.clang_getCursorSpelling(one)), lib.clang_getEnumConstantDeclValue(one) & mask)
        for one in children(cursor)
        if one.kind == CursorKind.ENUM_CONSTANT
    )


def _place(cursor: Cursor, unit: TranslationUnit) -> tuple[bytes, int]:
    at = unit.position(cursor)
    file = unit.file_of(at.file)
    return unit.path_of(at.file) if file is None else file, at.line


def fields_of(type_: ClangType) -> list[Cursor]:
    """Return the fields of a record, including unnamed ones."""
    fields: list[Cursor] = []

    def visit(field: Cursor, _data: int) -> int:
        fields.append(field)
        return CONTINUE

    library().clang_Type_visitFields(type_, FieldVisitor(visit), None)
    return fields


def definition_of(type_: ClangType) -> Cursor:
    """Return the definition of a record or enum, or else a declaration."""
    declaration: Cursor = library().clang_getTypeDeclaration(type_)
    definition: Cursor = library().clang_getCursorDefinition(declaration)
    return definition if definition.declaration else declaration


def field_name(cursor: Cursor) -> str:
    """Return the name of a field; "" for an anonymous member, which libclang describes by its location."""
    name = text(library().clang_getCursorSpelling(cursor))
    return name if name.isidentifier() or "$" in name else ""


# The fields between an object and a member; C code and libclang omit anonymous members.

# Anonymous members in anonymous members are followed so deep.


class MemberStep(NamedTuple):
    """A field in a member expression: the key of its record, its index in the record, its type and name."""

    record: str
    number: int
    type: ClangType
    name: str


class MemberPaths:
    def __init__(self, keys: DeclarationKeys) -> None:
        self._keys = keys
        self._lib = library()
        # The declaration of the record of each field, and of each anonymous member.
        self._steps: dict[int | None, tuple[int | None, MemberStep]] = {}

    def of(self, object_type: ClangType, field: Cursor) -> list[MemberStep]:
        """Return the fields from an object to a field, including the anonymous members that C code omits."""
        record = self._lib.clang_getCanonicalType(object_type)
        if record.kind == TypeKind.POINTER:
            record = self._lib.clang_getCanonicalType(self._lib.clang_getPointeeType(record))
        whole = definition_of(record).declaration
        path: list[MemberStep] = []
        declaration = field.declaration
        while len(path) < MAX_DEPTH:
            if declaration not in self._steps:
                self._read_steps(self._lib.clang_getCursorSemanticParent(field))
            if declaration not in self._steps:
                break
            owner, step = self._steps[declaration]
            path.append(step)
            if owner == whole:
                break
            declaration = owner
        return path[::-1]

    def _read_steps(self, record: Cursor) -> None:
        """Record the fields of a record, and those of the enclosing records if it is an anonymous member."""
        while record.kind in (CursorKind.STRUCT, CursorKind.UNION):
            key = self._keys.type_key(record)
            for index, field in enumerate(fields_of(self._lib.clang_getCursorType(record))):
                type_ = self._lib.clang_getCursorType(field)
                name = field_name(field)
                step = record.declaration, MemberStep(key, index, type_, name)
                self._steps[field.declaration] = step
                if not name:
                    self._steps[definition_of(type_).declaration] = step
            record = self._lib.clang_getCursorSemanticParent(record)


def _pointer_to(type_: ClangType, written: CType) -> CType:
    """Return the pointer that an array or function becomes; an array has the qualifiers of its elements."""
    if written.kind == "function" or written.target is None:
        return CType("pointer", f"{written.spelling} *", POINTER_SIZE, POINTER_SIZE, target=written)
    array = library().clang_getCanonicalType(type_)
    both = (array, library().clang_getArrayElementType(array))
    const = any(map(library().clang_isConstQualifiedType, both))
    target = replace(written.target, volatile=any(map(library().clang_isVolatileQualifiedType, both)))
    words = f"{'const ' * const}{'volatile ' * target.volatile}"
    after_star = target.kind == "pointer"
    spelling = f"{target.spelling}{words}" if after_star else f"{words}{target.spelling} "
    return CType("pointer", f"{spelling}*", POINTER_SIZE, POINTER_SIZE, const=const, target=target)
