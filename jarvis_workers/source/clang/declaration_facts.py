"""Facts about a declaration that the translation to Rust needs: linkage, attributes, properties of types."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_void_p

from jarvis_workers.source.clang.kinds import ARRAYS, FUNCTIONS, LINKAGE_INTERNAL, RECORDS, CursorKind, TypeKind
from jarvis_workers.source.clang.libclang import ClangType, Cursor, children, library, text
from jarvis_workers.source.clang.unit import Language

# Declarations printed by clang without bodies and initialisers, to find attributes that have no cursor kind.

# CXPrintingPolicyProperty.
SUPPRESS_INITIALIZERS, ANONYMOUS_TAG_LOCATIONS, TERSE_OUTPUT = 6, 8, 17
ATTRIBUTE = "__attribute__(("


class PrettyPrinter:
    def __init__(self, policy: c_void_p) -> None:
        self._policy = policy

    def print(self, cursor: Cursor) -> str:
        return text(library().clang_getCursorPrettyPrinted(cursor, self._policy))


@contextmanager
def pretty_printer(unit: Cursor) -> Iterator[PrettyPrinter]:
    """Yield a printer for the declarations of a unit."""
    lib = library()
    policy = c_void_p(lib.clang_getCursorPrintingPolicy(unit))
    for name, value in ((SUPPRESS_INITIALIZERS, 1), (ANONYMOUS_TAG_LOCATIONS, 0), (TERSE_OUTPUT, 1)):
        lib.clang_PrintingPolicy_setProperty(policy, name, value)
    try:
        yield PrettyPrinter(policy)
    finally:
        lib.clang_PrintingPolicy_dispose(policy)


def attributes(printed: str) -> dict[str, str]:
    """Return the attributes of a printed declaration, with their arguments as text."""
    pieces = [_balanced(printed, match.end()) for match in re.finditer(re.escape(ATTRIBUTE), printed)]
    pieces += re.findall(r"\[\[(?:gnu|clang)::(.*?)\]\]", printed)
    return {name: arguments for piece in pieces for name, arguments in re.findall(r"^(\w+)(?:\((.*)\))?", piece)}


def without_attributes(printed: str) -> str:
    """Return a printed declaration without its attributes."""
    while (start := printed.find(ATTRIBUTE)) >= 0:
        inside = _balanced(printed, start + len(ATTRIBUTE))
        printed = printed[:start] + printed[start + len(ATTRIBUTE) + len(inside) + len("))") :]
    return printed


def _balanced(words: str, begin: int) -> str:
    """Return the text from the parenthesis at `begin` to the one that closes it."""
    depth = 0
    for index in range(begin, len(words)):
        depth += {"(": 1, ")": -1}.get(words[index], 0)
        if depth < 0:
            return words[begin:index]
    return words[begin:]


NOT_TRANSLATABLE = "not_translatable"
# Attributes of declarations that become facts under their own names.
ATTRIBUTE_FACTS = frozenset(
    {
        *("weak", "weakref", "alias", "ifunc", "constructor", "destructor", "noreturn", "returns_twice", "naked"),
        *("section", "used", "visibility", "cleanup", "aligned", "packed", "transparent_union", "vector_size", "mode"),
        *("always_inline", "noinline", "gnu_inline", "malloc", "tls_model"),
    }
)
# The argument of these attributes is the name of the function that a call reaches.
ALIASES_BY_NAME = frozenset({"alias", "ifunc"})
TYPE_FACTS = {
    TypeKind.LONG_DOUBLE: "long_double",
    TypeKind.FLOAT128: "float128",
    TypeKind.INT128: "int128",
    TypeKind.UINT128: "int128",
    TypeKind.COMPLEX: "complex",
    TypeKind.VECTOR: "vector",
    TypeKind.EXTENDED_VECTOR: "vector",
    TypeKind.ATOMIC: "atomic",
    TypeKind.VARIABLE_ARRAY: "vla",
}


def facts_of(cursor: Cursor, printed: str, language: Language) -> tuple[str, ...]:
    """Return the sorted facts about a declaration; `printed` is clang's printed form of it."""
    lib = library()
    facts = set(ATTRIBUTE_FACTS.intersection(attributes(printed)))
    if lib.clang_getCursorLinkage(cursor) == LINKAGE_INTERNAL:
        facts.add("internal")
    if re.search(r"\b_Noreturn\b|\[\[noreturn\]\]", printed):
        facts.add("noreturn")
    if re.search(r"\basm\(\"", printed):
        facts.add("asm_label")
    if language == "c++":
        facts.add(NOT_TRANSLATABLE)
    facts.update(_facts_of_kind(cursor))
    return tuple(sorted(facts))


def _facts_of_kind(cursor: Cursor) -> Iterator[str]:
    if cursor.kind in FUNCTIONS:
        yield from _function(cursor)
    elif cursor.kind in RECORDS:
        yield from _record(cursor)
    else:
        if library().clang_getCursorTLSKind(cursor):
            yield "thread_local"
        yield from type_facts(library().clang_getCursorType(cursor))


def _function(cursor: Cursor) -> Iterator[str]:
    lib = library()
    type_ = lib.clang_getCursorType(cursor)
    if lib.clang_getCanonicalType(type_).kind == TypeKind.FUNCTION_WITHOUT_PROTOTYPE:
        yield "no_prototype"
    elif lib.clang_Cursor_isVariadic(cursor):
        yield "variadic"
    if "__attribute__((noreturn))" in text(lib.clang_getTypeSpelling(type_)):
        yield "noreturn"
    if lib.clang_Cursor_isFunctionInlined(cursor):
        yield "inline"
    yield from type_facts(lib.clang_getCursorResultType(cursor))
    for index in range(max(lib.clang_Cursor_getNumArguments(cursor), 0)):
        yield from type_facts(lib.clang_getCursorType(lib.clang_Cursor_getArgument(cursor, index)))


def _record(cursor: Cursor) -> Iterator[str]:
    lib = library()
    members = children(cursor)
    for member in members:
        if member.kind == CursorKind.PACKED_ATTR:
            yield "packed"
        elif member.kind == CursorKind.ALIGNED_ATTR:
            yield "aligned"
        elif member.kind in RECORDS and lib.clang_Cursor_isAnonymousRecordDecl(member):
            yield "anonymous_members"
    fields = [member for member in members if member.kind == CursorKind.FIELD]
    if any(lib.clang_Cursor_isBitField(field) for field in fields):
        yield "bit_fields"
    types = [lib.clang_getCursorType(field) for field in fields]
    if types and _is_flexible(types[-1]):
        yield "flexible_array"
    alignment = lib.clang_Type_getAlignOf(lib.clang_getCursorType(cursor))
    if types and 0 < alignment < max(map(lib.clang_Type_getAlignOf, types)):
        yield "packed"
    for type_ in types:
        yield from type_facts(type_)


def _is_flexible(type_: ClangType) -> bool:
    lib = library()
    canonical = lib.clang_getCanonicalType(type_)
    if canonical.kind == TypeKind.CONSTANT_ARRAY:
        return bool(lib.clang_getArraySize(canonical) == 0)
    return bool(canonical.kind == TypeKind.INCOMPLETE_ARRAY)


def type_facts(type_: ClangType) -> Iterator[str]:
    """Yield the facts about a type, its pointee type and its element type."""
    lib = library()
    current = lib.clang_getCanonicalType(type_)
    while True:
        if fact := TYPE_FACTS.get(current.kind):
            yield fact
        if current.kind == TypeKind.POINTER:
            current = lib.clang_getPointeeType(current)
        elif current.kind in ARRAYS:
            current = lib.clang_getArrayElementType(current)
        else:
            return
