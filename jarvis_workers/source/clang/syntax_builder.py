"""Build the syntax tree of a definition from its cursors.

Cursors are processed in reverse pre-order, children before their parents, so that no recursion is needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from jarvis_workers.source.clang.constants import evaluate
from jarvis_workers.source.clang.cursor_tree import CursorNode, cursor_tree
from jarvis_workers.source.clang.declaration_keys import DeclarationKeys
from jarvis_workers.source.clang.expression_builder import ExpressionBuilder
from jarvis_workers.source.clang.expression_nodes import ExpressionNodes
from jarvis_workers.source.clang.for_headers import for_parts
from jarvis_workers.source.clang.kinds import TYPES, CursorKind
from jarvis_workers.source.clang.libclang import Cursor, library, text
from jarvis_workers.source.clang.macro_text import ExpansionText
from jarvis_workers.source.clang.member_paths import MemberPaths
from jarvis_workers.source.clang.syntax_tree import SyntaxNode
from jarvis_workers.source.clang.translation_unit import TranslationUnit
from jarvis_workers.source.clang.type_reader import TypeReader

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
        name, type_ = self._spelling(node.cursor), self._type(node.cursor)
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
