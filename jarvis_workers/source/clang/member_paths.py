"""The fields between an object and a member; C code and libclang omit anonymous members."""

from typing import NamedTuple

from jarvis_workers.source.clang.declaration_keys import DeclarationKeys
from jarvis_workers.source.clang.kinds import CursorKind, TypeKind
from jarvis_workers.source.clang.libclang import ClangType, Cursor, library
from jarvis_workers.source.clang.type_reader import definition_of, field_name, fields_of

# Anonymous members in anonymous members are followed so deep.
MAX_DEPTH = 50


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
