"""Read a translation unit with libclang: its symbols below the root, and their references.

A unit with errors is read as far as libclang understands it; callers must not treat it as complete.  Only files below
the root contribute symbols; symbols of other files that the unit uses are listed in `externals`.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from jarvis_workers.source.clang.declaration_facts import (
    ALIASES_BY_NAME,
    PrettyPrinter,
    attributes,
    pretty_printer,
    type_facts,
)
from jarvis_workers.source.clang.declarations import (
    ByteRange,
    DeclarationKey,
    DeclarationKeys,
    Declarations,
    category_of,
)
from jarvis_workers.source.clang.kinds import CONTAINERS, FUNCTIONS, RECORDS, STORAGE_STATIC, TYPES, CursorKind
from jarvis_workers.source.clang.libclang import Cursor, children, descendants, library
from jarvis_workers.source.clang.macros import Macros
from jarvis_workers.source.clang.translation_unit import TranslationUnit, parsed
from jarvis_workers.source.clang.unit import (
    Category,
    CompileCommand,
    Language,
    Reference,
    ReferenceKind,
    Unit,
    UnitSymbol,
    language_of,
)

# The references of a definition and the facts about its body, from the cursors below it in pre-order.

BODY_FACTS: dict[int, str] = {
    CursorKind.GOTO: "goto",
    CursorKind.INDIRECT_GOTO: "computed_goto",
    CursorKind.ADDRESS_OF_LABEL: "computed_goto",
    CursorKind.ASM: "inline_asm",
    CursorKind.MS_ASM: "inline_asm",
    CursorKind.STATEMENT_EXPR: "statement_expression",
    CursorKind.GENERIC_SELECTION: "generic_selection",
}
CALL_FACTS = {
    **dict.fromkeys(("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "__builtin_setjmp"), "setjmp"),
    **dict.fromkeys(("longjmp", "_longjmp", "siglongjmp", "__builtin_longjmp"), "longjmp"),
    **dict.fromkeys(("alloca", "__builtin_alloca"), "alloca"),
}
KIND_OF: dict[Category, ReferenceKind] = {"function": "call", "type": "type", "global": "global", "macro": "macro"}
# Cursors that may be between a call and the name of its callee: parentheses, `*f`, `&f`, casts.
BEFORE_CALLEE = frozenset({CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN, CursorKind.UNARY, CursorKind.C_CAST})
TYPED = frozenset({CursorKind.VARIABLE, CursorKind.PARAMETER, CursorKind.C_CAST, CursorKind.FLOATING_LITERAL})
# Maximum distance in cursors from a variable to its attributes, which are its last cursors.
ATTRIBUTE_DISTANCE = 16
# Only these kinds matter; this is checked first, since most cursors are of other kinds.
RELEVANT = (
    TYPED
    | TYPES
    | BODY_FACTS.keys()
    | {CursorKind.CALL, CursorKind.DECL_REF, CursorKind.MEMBER_REF, CursorKind.TYPE_REF, CursorKind.TEMPLATE_REF}
    | {CursorKind.UNEXPOSED_ATTR}
)


class BodyReader:
    """Collects the references of definitions, one definition at a time.

    `targets` are all referenced declarations, by key; `calls_by_name` are calls of functions that an attribute names.
    """

    def __init__(self, keys: DeclarationKeys, language: Language, printer: PrettyPrinter) -> None:
        self._keys = keys
        self._language = language
        self._printer = printer
        self._lib = library()
        self._facts_of_type: dict[int | None, tuple[str, ...]] = {}
        self.references: set[Reference] = set()
        self.targets: dict[str, DeclarationKey] = {}
        self.calls_by_name: list[tuple[str, str]] = []

    def read(self, source: DeclarationKey, cursors: Sequence[Cursor]) -> set[str]:
        """Record the references of a definition and return the facts about its body."""
        self._source = source
        self._cursors = cursors
        self._kinds = [cursor.kind for cursor in cursors]
        self._facts: set[str] = set()
        self._callees: set[int] = set()
        self._unselected: set[int] = set()
        self._called: set[str] = set()
        for index, kind in enumerate(self._kinds):
            if kind not in RELEVANT:
                continue
            cursor = cursors[index]
            if kind == CursorKind.DECL_REF:
                self._name(index, cursor)
            elif kind == CursorKind.MEMBER_REF:
                self._member(cursor)
            elif kind == CursorKind.CALL:
                self._call(index, cursor)
            else:
                self._other(index, kind, cursor)
        return self._facts

    def _name(self, index: int, cursor: Cursor) -> None:
        target = self._referenced(cursor)
        function = target is not None and target.category == "function"
        if function and index in self._unselected:
            return
        if index in self._callees and not function:
            self._facts.add("indirect_calls")
        if target is None:
            return
        if not function:
            self._refer(target, KIND_OF[target.category])
        elif index in self._callees or target.key in self._called:
            self._refer(target, "call")
            if target.name in CALL_FACTS:
                self._facts.add(CALL_FACTS[target.name])
        else:
            self._refer(target, "address")

    def _member(self, cursor: Cursor) -> None:
        target = self._referenced(cursor)
        if target is not None:
            self._refer(target, KIND_OF[target.category])

    def _call(self, index: int, cursor: Cursor) -> None:
        if self._language == "c++":
            target = self._referenced(cursor)
            if target is not None and target.category == "function":
                self._called.add(target.key)
                self._refer(target, "call")
                return
        callee = index + 1
        while callee < len(self._kinds) and self._kinds[callee] in BEFORE_CALLEE:
            callee = self._operand(callee) if self._kinds[callee] == CursorKind.C_CAST else callee + 1
        kind = self._kinds[callee] if callee < len(self._kinds) else None
        if kind == CursorKind.DECL_REF:
            self._callees.add(callee)
        elif kind == CursorKind.GENERIC_SELECTION:
            self._select(callee)
        else:
            self._facts.add("indirect_calls")

    def _operand(self, cast: int) -> int:
        """Return the index of the operand of a cast: its last child, after those of the type."""
        below = children(self._cursors[cast])
        behind = len(descendants(below[-1])) if below else 0
        return cast + max(len(descendants(self._cursors[cast])) - behind, 1)

    def _select(self, generic: int) -> None:
        """Treat the functions that `_Generic` may select as called; the type of the expression determines which."""
        below = range(generic + 1, generic + 1 + len(descendants(self._cursors[generic])))
        names = {index for index in below if self._kinds[index] == CursorKind.DECL_REF}
        selected = {index for index in names if self._canonical(index) == self._canonical(generic)}
        self._callees |= selected or names
        self._unselected |= names - selected if selected else set()

    def _canonical(self, index: int) -> int | None:
        type_ = self._lib.clang_getCanonicalType(self._lib.clang_getCursorType(self._cursors[index]))
        pointer: int | None = type_.pointer
        return pointer

    def _other(self, index: int, kind: int, cursor: Cursor) -> None:
        if fact := BODY_FACTS.get(kind):
            self._facts.add(fact)
        elif kind in TYPED:
            self._typed(kind, cursor)
        elif kind == CursorKind.UNEXPOSED_ATTR:
            self._attribute(index)
        elif kind in TYPES:
            if target := self._keys.of(cursor):
                self._refer(target, "type")
        elif target := self._referenced(cursor):
            self._refer(target, KIND_OF[target.category])

    def _attribute(self, index: int) -> None:
        """Record the function named by the `cleanup` attribute of a local variable as called."""
        before = reversed(self._cursors[max(index - ATTRIBUTE_DISTANCE, 0) : index])
        owner = next((one for one in before if one.kind == CursorKind.VARIABLE), None)
        name = attributes(self._printer.print(owner)).get("cleanup") if owner is not None else None
        if name:
            self._facts.add("cleanup")
            self.calls_by_name.append((self._source.key, name))

    def _typed(self, kind: int, cursor: Cursor) -> None:
        type_ = self._lib.clang_getCursorType(cursor)
        if type_.pointer not in self._facts_of_type:
            self._facts_of_type[type_.pointer] = tuple(type_facts(type_))
        self._facts.update(self._facts_of_type[type_.pointer])
        if kind == CursorKind.VARIABLE and self._lib.clang_Cursor_getStorageClass(cursor) == STORAGE_STATIC:
            self._facts.add("static_locals")

    def _referenced(self, cursor: Cursor) -> DeclarationKey | None:
        return self._keys.of(self._lib.clang_getCursorReferenced(cursor))

    def _refer(self, target: DeclarationKey, kind: ReferenceKind) -> None:
        if target.key != self._source.key or kind == "call":
            self.references.add(Reference(self._source.key, target.key, kind))
            self.targets[target.key] = target


def read_unit(root: Path, command: CompileCommand, headers: Path) -> Unit:
    """Read the unit that a command compiles; raise GivenUp if libclang returns no syntax tree.

    `root` is the project's directory on this machine, `headers` the directory of the builtin headers of clang.
    """
    return read_unit_and_files(root, command, headers)[0]


def read_unit_and_files(root: Path, command: CompileCommand, headers: Path) -> tuple[Unit, tuple[bytes, ...]]:
    """Read a unit as `read_unit` does; also return the absolute paths of the files read outside the project."""
    with parsed(root, command, headers) as unit, pretty_printer(unit.cursor) as printer:
        language = language_of(command)
        reader = _UnitReader(unit, language, printer)
        reader.read(unit.cursor)
        found = Unit(
            file=command.file,
            language=language,
            arguments_hash=arguments_hash(command),
            symbols=reader.sorted_symbols(),
            references=reader.sorted_references(),
            externals=reader.externals(),
            includes=unit.includes(),
            diagnostics=unit.diagnostics(),
        )
        return found, unit.system_files()


def arguments_hash(command: CompileCommand) -> str:
    """Return the SHA-256 of the directory and the arguments."""
    words = [command.directory.decode(errors="surrogateescape"), *command.arguments]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


PRAGMA_WEAK = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+weak[ \t]+(\w+)", re.MULTILINE)


class _UnitReader:
    def __init__(self, unit: TranslationUnit, language: Language, printer: PrettyPrinter) -> None:
        self._unit = unit
        self._printer = printer
        self._keys = DeclarationKeys(unit)
        self._declarations = Declarations(unit, self._keys, language)
        self._bodies = BodyReader(self._keys, language, printer)
        self._macros = Macros(unit, self._declarations, language)
        self._symbols: dict[str, UnitSymbol] = {}
        self._spans: list[tuple[ByteRange, str]] = []
        self._aliases: list[tuple[str, str]] = []
        # libclang does not report this pragma, so the text is searched for it.
        self._weak = {name for file in unit.files.values() for name in PRAGMA_WEAK.findall(unit.contents(file))}

    def read(self, parent: Cursor) -> None:
        """Read the declarations directly below a cursor, and those in namespaces and classes below it."""
        for cursor in children(parent):
            kind = cursor.kind
            if kind in (CursorKind.MACRO_DEFINITION, CursorKind.MACRO_EXPANSION):
                self._macros.add(cursor)
            elif kind in CONTAINERS:
                self.read(cursor)
            elif category_of(kind) and self._unit.file_of(self._unit.position(cursor).file) is not None:
                self._declare(cursor)

    def _declare(self, cursor: Cursor) -> None:
        key = self._keys.of(cursor)
        if key is None:
            return
        symbol = self._declarations.symbol(cursor, key, self._printer)
        earlier = self._symbols.get(key.key)
        if earlier is not None:
            # clang prints an attribute only with the declaration that has it, which may be an earlier one.
            symbol = replace(symbol, facts=tuple(sorted({*symbol.facts, *earlier.facts} - {"no_prototype"})))
        if earlier is not None and earlier.is_definition:
            self._declare_again(earlier, symbol, cursor)
            return
        if symbol.is_definition:
            symbol = self._define(cursor, key, symbol)
        if earlier is None or symbol.is_definition:
            self._symbols[key.key] = symbol

    def _declare_again(self, earlier: UnitSymbol, symbol: UnitSymbol, cursor: Cursor) -> None:
        """Give an anonymous type the extent of the typedef that names it; other redeclarations only change facts."""
        if cursor.kind == CursorKind.TYPEDEF and earlier.kind != "typedef":
            earlier = replace(earlier, extent=symbol.extent, source_hash=symbol.source_hash)
        self._symbols[symbol.key] = replace(earlier, facts=symbol.facts)

    def _define(self, cursor: Cursor, key: DeclarationKey, symbol: UnitSymbol) -> UnitSymbol:
        # Methods are separate symbols inside a class.
        below = descendants(cursor, FUNCTIONS if cursor.kind in RECORDS else frozenset())
        facts = self._bodies.read(key, below)
        self._spans.append((self._declarations.extent(cursor)[0], key.key))
        for name, target in attributes(self._printer.print(cursor)).items():
            if name in ALIASES_BY_NAME:
                self._aliases.append((key.key, target.strip('"')))
        if cursor.kind in RECORDS:
            for member in children(cursor):
                if member.kind in TYPES | FUNCTIONS or member.kind == CursorKind.VARIABLE:
                    self._declare(member)
        return replace(symbol, facts=tuple(sorted({*symbol.facts, *facts})))

    def sorted_symbols(self) -> tuple[UnitSymbol, ...]:
        symbols = [*map(self._with_pragmas, self._listed()), *self._macros.symbols]
        return tuple(sorted(symbols, key=lambda symbol: (symbol.extent.file, *symbol.extent[1:3], symbol.key)))

    def _listed(self) -> Iterator[UnitSymbol]:
        """Yield the symbols except prototypes, most of which are from headers and unused."""
        return (one for one in self._symbols.values() if one.is_definition or one.category == "type")

    def _with_pragmas(self, symbol: UnitSymbol) -> UnitSymbol:
        weak = symbol.name.encode() in self._weak and symbol.category in ("function", "global")
        return replace(symbol, facts=tuple(sorted({*symbol.facts, "weak"}))) if weak else symbol

    def sorted_references(self) -> tuple[Reference, ...]:
        by_attributes = [*self._named(self._bodies.calls_by_name, "call"), *self._named(self._aliases, "address")]
        return tuple(sorted({*self._bodies.references, *self._macros.references(self._spans), *by_attributes}))

    def _named(self, pairs: list[tuple[str, str]], kind: str) -> Iterator[Reference]:
        functions = {symbol.name: symbol.key for symbol in self._symbols.values() if symbol.category == "function"}
        for source, name in pairs:
            if name in functions:
                yield Reference(source, functions[name], "call" if kind == "call" else "address")

    def externals(self) -> tuple[tuple[str, str], ...]:
        names = {key: target.name for key, target in self._bodies.targets.items()} | self._macros.targets
        names |= {key: self._symbols[key].name for _, key, _ in self.sorted_references() if key in self._symbols}
        own = {symbol.key for symbol in (*self._listed(), *self._macros.symbols)}
        return tuple(sorted((key, name) for key, name in names.items() if key not in own))
