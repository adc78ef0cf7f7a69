"""Read the input of a translation: the functions and globals of a unit with trees and types, and their references."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from jarvis_workers.source.clang.c_types import CDeclaration, CDefinition, UnitDefinitions
from jarvis_workers.source.clang.constants import evaluate
from jarvis_workers.source.clang.cursor_tree import CursorNode, cursor_tree
from jarvis_workers.source.clang.declarations import DeclarationKey, DeclarationKeys, Declarations, is_definition
from jarvis_workers.source.clang.expression_builder import BUILTIN, ExpressionBuilder, ExpressionNodes
from jarvis_workers.source.clang.kinds import LINKAGE_INTERNAL, TYPES, CursorKind
from jarvis_workers.source.clang.libclang import ClangType, Cursor, children, library, text
from jarvis_workers.source.clang.macros import ExpansionText, for_parts
from jarvis_workers.source.clang.syntax_tree import SyntaxNode
from jarvis_workers.source.clang.translation_unit import TranslationUnit, parsed
from jarvis_workers.source.clang.type_reader import MemberPaths, TypeReader
from jarvis_workers.source.clang.unit import CompileCommand

# Build the syntax tree of a definition from its cursors.

STORAGE = {2: "extern", 3: "static", 7: "register"}
# Statements whose children are already those of the table in syntax_tree.
PLAIN = {
    CursorKind.COMPOUND: "compound",
    CursorKind.DECLARATION_STMT: "declaration",
    CursorKind.IF: "if",
    CursorKind.SWITCH: "switch",
    CursorKind.WHILE: "while",
    CursorKind.DO: "do",
    CursorKind.DEFAULT: "default",
    CursorKind.INDIRECT_GOTO: "computed_goto",
    CursorKind.RETURN: "return",
    CursorKind.BREAK: "break",
    CursorKind.CONTINUE: "continue",
    CursorKind.NULL_STMT: "null",
    CursorKind.ASM: "asm",
    CursorKind.MS_ASM: "asm",
}
# Attributes, and names of types, labels and fields, which their parent nodes read themselves.
WORDS = frozenset({CursorKind.TYPE_REF, CursorKind.LABEL_REF, CursorKind.FIELD_REF})
ATTRIBUTES = range(400, 500)


class SyntaxBuilder:
    """Builds the trees of a unit's functions and variables, with their types and the declarations that they use."""

    def __init__(self, unit: TranslationUnit, keys: DeclarationKeys) -> None:
        self._unit = unit
        self._keys = keys
        self._lib = library()
        self._source = ExpansionText(unit)
        self.types = TypeReader(unit, keys)
        self.references: dict[str, Cursor] = {}
        self._nodes = ExpressionNodes(unit, self.types, MemberPaths(keys))
        self._statements: dict[int, Callable[[CursorNode, Sequence[SyntaxNode]], SyntaxNode]] = {
            CursorKind.CASE: self._case,
            CursorKind.FOR: self._for,
            CursorKind.LABEL: self._label,
            CursorKind.GOTO: self._goto,
            CursorKind.UNEXPOSED_STMT: self._attributed,
            CursorKind.VARIABLE: self._variable,
            CursorKind.PARAMETER: self._parameter,
            CursorKind.FUNCTION: self._function,
        }

    def build(self, cursor: Cursor) -> SyntaxNode:
        """Return the tree of a function or variable."""
        nodes = cursor_tree(cursor)
        self._locals = {node.cursor.declaration: number for number, node in enumerate(filter(self._is_local, nodes), 1)}
        self._expressions = ExpressionBuilder(self._nodes, self._keys, self._source, self._locals, self.references)
        built: dict[int, SyntaxNode] = {}
        for node in reversed(nodes):
            if node.cursor.kind not in WORDS and node.cursor.kind not in ATTRIBUTES:
                children = [built[id(child)] for child in node.children if id(child) in built]
                built[id(node)] = self._convert(node, children)
        return built[id(nodes[0])]

    def _is_local(self, node: CursorNode) -> bool:
        local = node.parent is not None and node.cursor.kind in (CursorKind.VARIABLE, CursorKind.PARAMETER)
        return local and self._keys.of(node.cursor) is None

    def _convert(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        kind = node.cursor.kind
        if kind in PLAIN:
            return SyntaxNode(PLAIN[CursorKind(kind)], self._line(node), children=tuple(children))
        if kind in self._statements:
            return self._statements[kind](node, children)
        if kind in TYPES:
            return SyntaxNode("type", self._line(node), name=self._spelling(node.cursor))
        return self._expressions.convert(node, children)

    def _case(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        own = [child.cursor for child in node.children if child.cursor.kind not in WORDS][:-1]
        labels = [replace(built, value=evaluate(cursor)) for built, cursor in zip(children, own, strict=False)]
        return SyntaxNode("case", self._line(node), children=(*labels, *children[len(labels) :]))

    def _for(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        parts = for_parts(self._source, node.cursor, len(children) - 1)
        if parts is None:
            return SyntaxNode(
                "unknown", self._line(node), name="for statement with omitted parts", children=tuple(children)
            )
        remaining = iter(children)
        header = [next(remaining) if there else None for there in parts]
        return SyntaxNode("for", self._line(node), children=(*header, *remaining))

    def _label(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        return SyntaxNode("label", self._line(node), name=self._spelling(node.cursor), children=tuple(children))

    def _goto(self, node: CursorNode, _children: Sequence[SyntaxNode]) -> SyntaxNode:
        names = [self._spelling(child.cursor) for child in node.children if child.cursor.kind == CursorKind.LABEL_REF]
        return SyntaxNode("goto", self._line(node), name="".join(names))

    def _attributed(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        if len(children) == 1:
            return children[0]
        return SyntaxNode("unknown", self._line(node), name="statement", children=tuple(children))

    def _variable(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        cursor = node.cursor
        initializer = self._lib.clang_Cursor_getVarDeclInitializer(cursor)
        own = [child for child in node.children if child.cursor.kind not in WORDS | set(ATTRIBUTES)]
        value = [
            built
            for child, built in zip(own, children, strict=True)
            if initializer.statement and child.cursor.statement == initializer.statement
        ]
        key = self._keys.of(cursor)
        return SyntaxNode(
            "variable",
            self._line(node),
            type=self._type(cursor),
            name=self._spelling(cursor),
            operator="cleanup" if _has_cleanup(self._source, node) else _storage(cursor),
            target=key.key if key else "",
            local=0 if key else self._locals.get(cursor.declaration, 0),
            children=tuple(value),
        )

    def _parameter(self, node: CursorNode, _children: Sequence[SyntaxNode]) -> SyntaxNode:
        number = self._locals.get(node.cursor.declaration, 0)
        name, written = self._spelling(node.cursor), self._lib.clang_getCursorType(node.cursor)
        type_ = self.types.spell_adjusted(written)
        return SyntaxNode("parameter", self._line(node), type=type_, name=name, local=number)

    def _function(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        key = self._keys.of(node.cursor)
        count = max(self._lib.clang_Cursor_getNumArguments(node.cursor), 0)
        # Before them are the parameters of the function type that the result points to.
        parameters = [child for child in children if child.kind == "parameter"][-count or len(children) :]
        return SyntaxNode(
            "function",
            self._line(node),
            type=self._type(node.cursor),
            name=self._spelling(node.cursor),
            target=key.key if key else "",
            children=(*parameters, *(child for child in children if child.kind == "compound")),
        )

    def _line(self, node: CursorNode) -> int:
        return self._unit.position(node.cursor).line

    def _spelling(self, cursor: Cursor) -> str:
        return text(self._lib.clang_getCursorSpelling(cursor))

    def _type(self, cursor: Cursor) -> str:
        return self.types.spell(self._lib.clang_getCursorType(cursor))


def _storage(cursor: Cursor) -> str:
    if library().clang_getCursorTLSKind(cursor):
        return "thread_local"
    return STORAGE.get(library().clang_Cursor_getStorageClass(cursor), "")


def _has_cleanup(source: ExpansionText, node: CursorNode) -> bool:
    """Whether a cleanup function is called at the end of the variable's scope."""
    attributes = [child.cursor for child in node.children if child.cursor.kind in ATTRIBUTES]
    texts = (words for one in attributes for words in (source.of(one), *source.of_macros(one)))
    return any(b"cleanup" in words for words in texts)


def read_definitions(root: Path, command: CompileCommand, headers: Path) -> UnitDefinitions:
    """Return the definitions of a C unit below the root, including those in headers, with the types that they use.

    Arguments and errors are as in `read_unit`; the trees of a unit with errors are incomplete.
    """
    with parsed(root, command, headers) as unit:
        return _DefinitionReader(unit).read()


class _DefinitionReader:
    def __init__(self, unit: TranslationUnit) -> None:
        self._unit = unit
        self._keys = DeclarationKeys(unit)
        self._builder = SyntaxBuilder(unit, self._keys)
        self._types = self._builder.types
        self._declarations = Declarations(unit, self._keys, "c")

    def read(self) -> UnitDefinitions:
        definitions = tuple(self._definition(key, cursor) for key, cursor in _definitions_of(self._unit, self._keys))
        own = {one.key for one in definitions}
        references = sorted(self._builder.references.items())
        declared = tuple(self._declaration(key, cursor) for key, cursor in references if key not in own)
        types = self._types.types()
        records = self._types.records()
        return UnitDefinitions(self._unit.file, definitions, declared, types, records, self._types.enums())

    def _definition(self, key: DeclarationKey, cursor: Cursor) -> CDefinition:
        lib = library()
        type_ = lib.clang_getCursorType(cursor)
        return CDefinition(
            key.key,
            key.name,
            self._declarations.extent(cursor)[1],
            lib.clang_getCursorLinkage(cursor) == LINKAGE_INTERNAL,
            self._types.read(type_),
            self._builder.build(cursor),
            cursor.kind == CursorKind.VARIABLE and _is_constant(type_),
        )

    def _declaration(self, key: str, cursor: Cursor) -> CDeclaration:
        type_ = self._types.read(library().clang_getCursorType(cursor))
        name = text(library().clang_getCursorSpelling(cursor))
        # A builtin function is declared where it is used first.
        project = self._unit.file_of(self._unit.position(cursor).file) is not None and not BUILTIN.match(name.encode())
        # Mach-O and an assembler name have a prefix.
        symbol = text(library().clang_Cursor_getMangling(cursor)).removeprefix("\x01")
        return CDeclaration(key, name, type_, project, symbol or name)


def _is_constant(type_: ClangType) -> bool:
    # The canonical type of an array has the qualifiers of its elements.
    return bool(library().clang_isConstQualifiedType(library().clang_getCanonicalType(type_)))


def _definitions_of(unit: TranslationUnit, keys: DeclarationKeys) -> list[tuple[DeclarationKey, Cursor]]:
    """Return the functions and variables that a unit defines below the root, in source order.

    If a variable has several tentative definitions, such as `int table[]; int table[4];`, only the last is returned.
    """
    definitions: dict[str, tuple[DeclarationKey, Cursor]] = {}
    for cursor in children(unit.cursor):
        if cursor.kind not in (CursorKind.FUNCTION, CursorKind.VARIABLE) or not is_definition(cursor):
            continue
        if unit.file_of(unit.position(cursor).file) is not None and (key := keys.of(cursor)):
            definitions[key.key] = (key, cursor)
    return list(definitions.values())
