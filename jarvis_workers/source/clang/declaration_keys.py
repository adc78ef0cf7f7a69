"""Identify declarations across all units of a project by clang's USR, with the path if the USR alone is ambiguous.

A USR names a file only by its base name, so the USR of a declaration that is local to its file, or of an anonymous
type, is prefixed with the path relative to the root of the project.  A declaration inside a function has no key: it
belongs to the function.
"""

import re
from typing import NamedTuple

from jarvis_workers.source.clang.kinds import (
    FUNCTIONS,
    LINKAGE_INTERNAL,
    TYPES,
    CursorKind,
)
from jarvis_workers.source.clang.libclang import Cursor, children, library, text
from jarvis_workers.source.clang.translation_unit import TranslationUnit
from jarvis_workers.source.clang.unit import Category

ANONYMOUS = re.compile(r"c:@([SUE]A@|Ea@|[SU]a)")


class DeclarationKey(NamedTuple):
    """The key, name and category (function, type or global) of a declaration."""

    key: str
    name: str
    category: Category


class DeclarationKeys:
    """The keys of the declarations of a unit, looked up once per declaration."""

    def __init__(self, unit: TranslationUnit) -> None:
        self._unit = unit
        self._lib = library()
        self._by_declaration: dict[int | None, DeclarationKey | None] = {}

    def of(self, cursor: Cursor) -> DeclarationKey | None:
        """Return the key of a function, type, global, enumerator or field's record; None for any other cursor."""
        declaration = cursor.declaration
        try:
            return self._by_declaration[declaration]
        except KeyError:
            key = self._by_declaration[declaration] = self._find(cursor)
            return key

    def _find(self, cursor: Cursor) -> DeclarationKey | None:
        kind = cursor.kind
        if kind in (CursorKind.FIELD, CursorKind.ENUM_CONSTANT):
            return self.of(self._lib.clang_getCursorSemanticParent(cursor))
        category = category_of(kind)
        if category is None:
            return None
        parent = self._lib.clang_getCursorSemanticParent(cursor)
        if parent.kind in FUNCTIONS and kind not in FUNCTIONS:
            return None
        if kind in TYPES:
            return self._type(cursor, parent)
        if kind == CursorKind.VARIABLE and parent.kind in FUNCTIONS:
            return None
        return DeclarationKey(self._key(cursor), self.name(cursor), category)

    def _type(self, cursor: Cursor, parent: Cursor) -> DeclarationKey | None:
        if self._lib.clang_Cursor_isAnonymous(cursor) and parent.kind in TYPES:
            return self.of(parent)
        declared = self.named_by(cursor)
        key = self._key(cursor if declared is None else declared)
        return DeclarationKey(key, self.name(cursor), "type")

    def type_key(self, cursor: Cursor) -> str:
        """Return the key of a record or enum, even if it is not a symbol: unnamed, or declared in a function.

        The key of a nested unnamed type is the key of the enclosing type and an index in it.
        """
        parent = self._lib.clang_getCursorSemanticParent(cursor)
        if parent.kind in TYPES and self._is_unnamed(cursor):
            siblings = [one.declaration for one in children(parent) if one.kind in TYPES and self._is_unnamed(one)]
            if cursor.declaration in (siblings := list(dict.fromkeys(siblings))):
                return f"{self.type_key(parent)}@{siblings.index(cursor.declaration)}"
        key = self.of(cursor)
        return self._key(cursor) if key is None else key.key

    def _is_unnamed(self, cursor: Cursor) -> bool:
        return bool(self._lib.clang_Cursor_isAnonymous(cursor))

    def type_name(self, cursor: Cursor) -> str:
        """Return the name of a record or enum, or of the typedef that names it; "" if there is neither."""
        name = text(self._lib.clang_getCursorSpelling(cursor))
        return "" if "(" in name else name

    def named_by(self, typedef: Cursor) -> Cursor | None:
        """Return the anonymous type that this typedef names, or None; the two are one symbol."""
        if typedef.kind != CursorKind.TYPEDEF:
            return None
        declared: Cursor = self._lib.clang_getTypeDeclaration(self._lib.clang_getTypedefDeclUnderlyingType(typedef))
        name = text(self._lib.clang_getCursorSpelling(typedef))
        usr = text(self._lib.clang_getCursorUSR(declared))
        return declared if re.fullmatch(rf"c:@[SUE]A@{re.escape(name)}", usr) else None

    def name(self, cursor: Cursor) -> str:
        """Return the name of a declaration; for an anonymous type, a placeholder such as `(anonymous struct)`."""
        name = text(self._lib.clang_getCursorSpelling(cursor))
        if cursor.kind in TYPES and (not name or "(" in name):
            return f"(anonymous {CursorKind(cursor.kind).name.lower()})"
        return name

    def _key(self, cursor: Cursor) -> str:
        usr = text(self._lib.clang_getCursorUSR(cursor))
        internal = self._lib.clang_getCursorLinkage(cursor) == LINKAGE_INTERNAL
        if usr.startswith("c:@") and not internal and not ANONYMOUS.match(usr):
            return usr
        file = self._file(cursor)
        return usr if file is None else f"{file}#{usr}"

    def _file(self, cursor: Cursor) -> str | None:
        """Return the file of the definition, or else of the first declaration.

        None if the file is outside the project.
        """
        found = self._lib.clang_getCursorDefinition(cursor)
        if not found.declaration:
            found = self._lib.clang_getCanonicalCursor(cursor)
        file = self._unit.file_of(self._unit.position(found).file)
        return None if file is None else file_text(file)


def file_text(file: bytes) -> str:
    """Return a path as part of a key; bytes that are not UTF-8 become escapes, so that a key is always UTF-8."""
    return file.decode(errors="backslashreplace")


def category_of(kind: int) -> Category | None:
    """Return the category of a cursor kind, or None if such cursors are not symbols."""
    if kind in FUNCTIONS:
        return "function"
    if kind in TYPES:
        return "type"
    return "global" if kind == CursorKind.VARIABLE else None
