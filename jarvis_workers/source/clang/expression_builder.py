"""Expressions of a syntax tree, with one converter per cursor kind."""

import re
from collections.abc import Callable, Mapping, Sequence

from jarvis_workers.source.clang.constants import evaluate
from jarvis_workers.source.clang.cursor_tree import CursorNode
from jarvis_workers.source.clang.declaration_keys import DeclarationKeys
from jarvis_workers.source.clang.expression_nodes import ExpressionNodes
from jarvis_workers.source.clang.kinds import CursorKind, TypeKind
from jarvis_workers.source.clang.libclang import Cursor, library, text
from jarvis_workers.source.clang.macro_text import ExpansionText
from jarvis_workers.source.clang.syntax_tree import SyntaxNode
from jarvis_workers.source.clang.unexposed_expressions import UnexposedExpressions

# Operators in the order of CXBinaryOperatorKind and CXUnaryOperatorKind, from 1.
BINARY = (
    *(".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&"),
    *("||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ","),
)
UNARY = (
    *("x++", "x--", "++", "--", "&", "*", "+", "-", "~", "!"),
    *("__real", "__imag", "__extension__", "co_await"),
)
LITERALS = {
    CursorKind.INTEGER_LITERAL: "integer",
    CursorKind.FLOATING_LITERAL: "floating",
    CursorKind.CHARACTER_LITERAL: "character",
}
# Expressions whose children are already those of the table in syntax_tree.
PLAIN = {
    CursorKind.CALL: "call",
    CursorKind.SUBSCRIPT: "subscript",
    CursorKind.CONDITIONAL: "conditional",
    CursorKind.PAREN: "parentheses",
    CursorKind.STATEMENT_EXPR: "statement_expression",
    CursorKind.COMPOUND_LITERAL: "compound_literal",
    CursorKind.INITIALIZER_LIST: "initializers",
}
# A literal in the source text itself, not in a macro.
LITERAL = re.compile(rb"[0-9.][\w.+-]*|\w?'.*'")


class ExpressionBuilder:
    """Converts cursors of expressions to nodes; `variables` maps declarations of local variables to their numbers.

    `references` collects, by key, the declarations of the functions and globals that are used.
    """

    def __init__(
        self,
        nodes: ExpressionNodes,
        keys: DeclarationKeys,
        source: ExpansionText,
        variables: Mapping[int | None, int],
        references: dict[str, Cursor],
    ) -> None:
        self._nodes = nodes
        self._references = references
        self._keys = keys
        self._source = source
        self._locals = variables
        self._lib = library()
        self._converters: dict[int, Callable[[CursorNode, Sequence[SyntaxNode]], SyntaxNode]] = {
            **dict.fromkeys(LITERALS, self._literal),
            **dict.fromkeys(PLAIN, self._plain),
            CursorKind.STRING_LITERAL: self._string,
            CursorKind.DECL_REF: self._name,
            CursorKind.MEMBER_REF: self._member,
            CursorKind.UNARY: self._operator,
            CursorKind.BINARY: self._operator,
            CursorKind.COMPOUND_ASSIGNMENT: self._operator,
            CursorKind.C_CAST: self._cast,
            CursorKind.SIZEOF: self._sizeof,
            CursorKind.ADDRESS_OF_LABEL: self._address_of_label,
            CursorKind.GENERIC_SELECTION: self._generic,
            CursorKind.UNEXPOSED_EXPR: UnexposedExpressions(self._nodes, source).convert,
        }

    def convert(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        """Return the node of an expression; an unsupported kind becomes an "unknown" node named after the kind."""
        converter = self._converters.get(node.cursor.kind)
        if converter is None:
            return self._nodes.make("unknown", node, children, name=f"kind {node.cursor.kind}")
        return converter(node, children)

    def _plain(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        expressions = [child for child in children if child.kind != "type"]
        return self._nodes.make(PLAIN[CursorKind(node.cursor.kind)], node, expressions)

    def _literal(self, node: CursorNode, _children: Sequence[SyntaxNode]) -> SyntaxNode:
        kind = LITERALS[CursorKind(node.cursor.kind)]
        words = self._source.of(node.cursor)
        written = words.decode(errors="replace") if LITERAL.fullmatch(words) else ""
        return self._nodes.make(kind, node, (), name=written, value=evaluate(node.cursor))

    def _string(self, node: CursorNode, _children: Sequence[SyntaxNode]) -> SyntaxNode:
        return self._nodes.make("string", node, (), name=self._nodes.string(node))

    def _name(self, node: CursorNode, _children: Sequence[SyntaxNode]) -> SyntaxNode:
        referenced = self._lib.clang_getCursorReferenced(node.cursor)
        key = self._keys.of(referenced)
        enumerator = referenced.kind == CursorKind.ENUM_CONSTANT
        if key and not enumerator:
            self._references.setdefault(key.key, referenced)
        return self._nodes.make(
            "name",
            node,
            (),
            name=text(self._lib.clang_getCursorSpelling(node.cursor)),
            operator="thread_local" if self._lib.clang_getCursorTLSKind(referenced) else "",
            target=key.key if key else "",
            local=self._locals.get(referenced.declaration, 0),
            value=self._lib.clang_getEnumConstantDeclValue(referenced) if enumerator else None,
        )

    def _member(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        objects = [child.cursor for child in node.children if child.cursor.kind != CursorKind.TYPE_REF]
        if not objects or not children:
            return self._nodes.make("unknown", node, children, name="member")
        type_ = self._lib.clang_getCursorType(objects[0])
        field = self._lib.clang_getCursorReferenced(node.cursor)
        pointer = self._lib.clang_getCanonicalType(type_).kind == TypeKind.POINTER
        member = children[-1]
        path = self._nodes.members.of(type_, field)
        if not path:
            return self._nodes.make("unknown", node, children, name="member")
        for step in path:
            operator = "->" if pointer and step is path[0] else "."
            written = step is path[-1]
            type_ = self._lib.clang_getCursorType(node.cursor) if written else step.type
            member = self._nodes.make_member(node, member, operator, step._replace(type=type_))
        return member

    def _operator(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        unary = node.cursor.kind == CursorKind.UNARY
        names = UNARY if unary else BINARY
        number_of = self._lib.clang_getCursorUnaryOperatorKind if unary else self._lib.clang_getCursorBinaryOperatorKind
        number = number_of(node.cursor)
        if not 0 < number <= len(names):
            return self._nodes.make("unknown", node, children, name=f"operator {number}")
        return self._nodes.make("unary" if unary else "binary", node, children, operator=names[number - 1])

    def _cast(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        return self._nodes.make("cast", node, children[-1:])

    def _sizeof(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        name = "alignof" if b"align" in self._source.of(node.cursor).lower()[:12] else "sizeof"
        expressions = [child for child in children if child.kind != "type"]
        return self._nodes.make("sizeof", node, expressions, name=name, value=evaluate(node.cursor))

    def _address_of_label(self, node: CursorNode, _children: Sequence[SyntaxNode]) -> SyntaxNode:
        names = [text(self._lib.clang_getCursorSpelling(child.cursor)) for child in node.children]
        return self._nodes.make("address_of_label", node, (), name="".join(names))

    def _generic(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        return self._nodes.make("generic", node, children, value=evaluate(node.cursor))
