"""The symbols of a unit: functions, types and globals as values, from their declarations and definitions."""

import hashlib
import re
from typing import NamedTuple

from jarvis_workers.source.clang.declaration_facts import ALIASES_BY_NAME, PrettyPrinter, facts_of, without_attributes
from jarvis_workers.source.clang.kinds import FUNCTIONS, LINKAGE_INTERNAL, TYPES, CursorKind
from jarvis_workers.source.clang.libclang import Cursor, Position, children, library, place, text
from jarvis_workers.source.clang.translation_unit import TranslationUnit
from jarvis_workers.source.clang.unit import Category, CParameter, Extent, Language, UnitSymbol

# Identify declarations across all units of a project by clang's USR, with the path if the USR alone is ambiguous.

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


# The name of each kind in a symbol.
KIND_NAMES = {
    CursorKind.VARIABLE: "variable",
    CursorKind.FUNCTION_TEMPLATE: "function template",
    CursorKind.CLASS_TEMPLATE: "class template",
    CursorKind.CLASS_SPECIALIZATION: "class template specialization",
    CursorKind.TYPE_ALIAS: "type alias",
    CursorKind.TYPE_ALIAS_TEMPLATE: "type alias template",
}


class ByteRange(NamedTuple):
    """The bytes of a file that a declaration covers; `end` is exclusive."""

    file: int
    begin: int
    end: int


class Declarations:
    """Converts cursors to symbols."""

    def __init__(self, unit: TranslationUnit, keys: DeclarationKeys, language: Language) -> None:
        self._unit = unit
        self._keys = keys
        self._language: Language = language
        self._lib = library()

    def symbol(self, cursor: Cursor, key: DeclarationKey, printer: PrettyPrinter) -> UnitSymbol:
        """Return the symbol of a declaration in a file of the project."""
        span, extent = self.extent(cursor)
        printed = printer.print(cursor)
        function = key.category == "function"
        facts = facts_of(cursor, printed, self._language)
        parameters = self._parameters(cursor) if function else ()
        if _is_k_and_r(printed, parameters):
            facts = tuple(sorted({*facts, "k_and_r"}))
        return UnitSymbol(
            key=key.key,
            category=key.category,
            kind=KIND_NAMES.get(CursorKind(cursor.kind)) or CursorKind(cursor.kind).name.lower(),
            name=key.name,
            qualified_name=self._qualified(cursor, key.name),
            extent=extent,
            language=self._language,
            signature=self._unit.without_root(self._signature(cursor, key, printed)),
            return_type=self._type(self._lib.clang_getCursorResultType(cursor)) if function else "",
            parameters=parameters,
            source_hash=hashlib.sha256(self._unit.contents(span.file)[span.begin : span.end]).hexdigest(),
            is_definition=is_definition(cursor) or not ALIASES_BY_NAME.isdisjoint(facts),
            facts=facts,
        )

    def extent(self, cursor: Cursor) -> tuple[ByteRange, Extent]:
        """Return the extent of a declaration: its text, or the expansion of the macro that generates it."""
        range_ = self._lib.clang_getCursorExtent(cursor)
        begin = place(self._lib.clang_getRangeStart(range_))
        if begin.file is None:  # a declaration that ends with the file has no extent
            begin = self._unit.position(cursor)
        end = self._end(begin, range_)
        file = self._unit.file_of(begin.file) or b""
        return (
            ByteRange(begin.file or 0, begin.offset, end.offset),
            Extent(file, begin.line, begin.column, end.line, max(end.column - 1, 1)),
        )

    def _end(self, begin: Position, range_: object) -> Position:
        # The end of a macro argument is at the argument itself, not at the start of the macro.
        location = self._lib.clang_getRangeEnd(range_)
        ends = [place(location), place(location, "clang_getFileLocation")]
        return max([begin, *(end for end in ends if end.file == begin.file)], key=lambda end: end.offset)

    def _signature(self, cursor: Cursor, key: DeclarationKey, printed: str) -> str:
        if cursor.kind in (CursorKind.STRUCT, CursorKind.UNION, CursorKind.CLASS, CursorKind.ENUM):
            return f"{CursorKind(cursor.kind).name.lower()} {key.name}"
        words = re.sub(r"\s+", " ", without_attributes(printed)).strip()
        parameters = self._parameters(cursor)
        if _is_k_and_r(words, parameters):
            names = ", ".join(one.name for one in parameters)
            words = words.removesuffix(f"({names})") + f"({', '.join(f'{one.type} {one.name}' for one in parameters)})"
        return words.removesuffix(" _Noreturn")

    def _parameters(self, cursor: Cursor) -> tuple[CParameter, ...]:
        count = self._lib.clang_Cursor_getNumArguments(cursor)
        arguments = [self._lib.clang_Cursor_getArgument(cursor, index) for index in range(max(count, 0))]
        return tuple(
            CParameter(text(self._lib.clang_getCursorSpelling(one)), self._type(self._lib.clang_getCursorType(one)))
            for one in arguments
        )

    def _type(self, type_: object) -> str:
        return self._unit.without_root(text(self._lib.clang_getTypeSpelling(type_)))

    def _qualified(self, cursor: Cursor, name: str) -> str:
        if self._language == "c":
            return name
        parts = [name]
        parent = self._lib.clang_getCursorSemanticParent(cursor)
        while parent.declaration and parent.kind != CursorKind.TRANSLATION_UNIT:
            if outer := text(self._lib.clang_getCursorSpelling(parent)):
                parts.append(outer)
            parent = self._lib.clang_getCursorSemanticParent(parent)
        return "::".join(reversed(parts))


def is_definition(cursor: Cursor) -> bool:
    """Return whether a declaration is a definition."""
    if cursor.kind in (CursorKind.TYPEDEF, CursorKind.TYPE_ALIAS, CursorKind.TYPE_ALIAS_TEMPLATE):
        return True
    if library().clang_isCursorDefinition(cursor):
        return True
    # A tentative definition, such as `int counter;`, is a definition unless another one initialises the variable.
    tentative = cursor.kind == CursorKind.VARIABLE and library().clang_Cursor_getStorageClass(cursor) in (1, 3)
    return tentative and not library().clang_getCursorDefinition(cursor).declaration


def _is_k_and_r(printed: str, parameters: tuple[CParameter, ...]) -> bool:
    """Return whether the printed declaration has only the names of the parameters, as in K&R style."""
    names = [one.name for one in parameters]
    return any(names) and printed.endswith(f"({', '.join(names)})")
