"""Expressions of a syntax tree.

libclang has no kind of its own for implicit casts, `a ?: b`, va_arg, offsetof and several more: they are told apart by
their types and children.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from jarvis_workers.source.clang.constants import evaluate
from jarvis_workers.source.clang.cursor_tree import CursorNode
from jarvis_workers.source.clang.declaration_keys import DeclarationKeys
from jarvis_workers.source.clang.kinds import CursorKind, TypeKind
from jarvis_workers.source.clang.libclang import library, place, text
from jarvis_workers.source.clang.syntax_tree import SyntaxNode
from jarvis_workers.source.clang.translation_unit import TranslationUnit

# By the numbers of CXBinaryOperatorKind and CXUnaryOperatorKind, from 1.
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
# Expressions whose children are as the table in syntax_tree has them.
PLAIN = {
    CursorKind.CALL: "call",
    CursorKind.SUBSCRIPT: "subscript",
    CursorKind.CONDITIONAL: "conditional",
    CursorKind.PAREN: "parentheses",
    CursorKind.STATEMENT_EXPR: "statement_expression",
    CursorKind.COMPOUND_LITERAL: "compound_literal",
    CursorKind.INITIALIZER_LIST: "initializers",
}
BUILTIN = re.compile(rb"(__(?:builtin|atomic|sync|c11)_\w+|atomic_\w+)")
VA_LIST = "__va_list_tag"


class ExpressionBuilder:
    """Converts cursors of expressions; `variables` are the numbers of local variables by declaration."""

    def __init__(self, unit: TranslationUnit, keys: DeclarationKeys, variables: Mapping[int | None, int]) -> None:
        self._unit = unit
        self._keys = keys
        self._locals = variables
        self._lib = library()
        self._converters: dict[int, Callable[[CursorNode, Sequence[SyntaxNode]], SyntaxNode]] = {
            **dict.fromkeys(LITERALS, self._literal),
            **dict.fromkeys(PLAIN, self._plain),
            CursorKind.STRING_LITERAL: self._string,
            CursorKind.DECL_REF: self._name,
            CursorKind.MEMBER_REF: self._member,
            CursorKind.UNARY: self._unary,
            CursorKind.BINARY: self._binary,
            CursorKind.COMPOUND_ASSIGNMENT: self._binary,
            CursorKind.C_CAST: self._cast,
            CursorKind.SIZEOF: self._sizeof,
            CursorKind.ADDRESS_OF_LABEL: self._address_of_label,
            CursorKind.GENERIC_SELECTION: self._generic,
            CursorKind.UNEXPOSED_EXPR: self._unexposed,
        }

    def convert(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        """Return the node of an expression; one of another kind is "unknown", by the name of its kind."""
        converter = self._converters.get(node.cursor.kind)
        if converter is None:
            return self._make("unknown", node, children, name=f"kind {node.cursor.kind}")
        return converter(node, children)

    def _plain(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        expressions = [child for child in children if child.kind != "type"]
        return self._make(PLAIN[CursorKind(node.cursor.kind)], node, expressions)

    def _literal(self, node: CursorNode, _children: Sequence[SyntaxNode]) -> SyntaxNode:
        kind = LITERALS[CursorKind(node.cursor.kind)]
        return self._make(kind, node, (), name=self._written(node), value=evaluate(node.cursor))

    def _string(self, node: CursorNode, _children: Sequence[SyntaxNode]) -> SyntaxNode:
        return self._make("string", node, (), name=text(self._lib.clang_getCursorSpelling(node.cursor)))

    def _name(self, node: CursorNode, _children: Sequence[SyntaxNode]) -> SyntaxNode:
        referenced = self._lib.clang_getCursorReferenced(node.cursor)
        key = self._keys.of(referenced)
        enumerator = referenced.kind == CursorKind.ENUM_CONSTANT
        return self._make(
            "name",
            node,
            (),
            name=text(self._lib.clang_getCursorSpelling(node.cursor)),
            target=key.key if key else "",
            local=self._locals.get(referenced.declaration, 0),
            value=self._lib.clang_getEnumConstantDeclValue(referenced) if enumerator else None,
        )

    def _member(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        objects = [child for child in node.children if child.cursor.kind != CursorKind.TYPE_REF]
        type_ = self._lib.clang_getCursorType(objects[0].cursor) if objects else None
        pointer = type_ is not None and self._lib.clang_getCanonicalType(type_).kind == TypeKind.POINTER
        name = text(self._lib.clang_getCursorSpelling(node.cursor))
        return self._make("member", node, children, name=name, operator="->" if pointer else ".")

    def _unary(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        number = self._lib.clang_getCursorUnaryOperatorKind(node.cursor)
        return self._make("unary", node, children, operator=UNARY[number - 1] if 0 < number <= len(UNARY) else "")

    def _binary(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        number = self._lib.clang_getCursorBinaryOperatorKind(node.cursor)
        return self._make("binary", node, children, operator=BINARY[number - 1] if 0 < number <= len(BINARY) else "")

    def _cast(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        return self._make("cast", node, children[-1:])

    def _sizeof(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        name = "alignof" if b"align" in self._source(node).lower()[:12] else "sizeof"
        expressions = [child for child in children if child.kind != "type"]
        return self._make("sizeof", node, expressions, name=name, value=evaluate(node.cursor))

    def _address_of_label(self, node: CursorNode, _children: Sequence[SyntaxNode]) -> SyntaxNode:
        names = [text(self._lib.clang_getCursorSpelling(child.cursor)) for child in node.children]
        return self._make("address_of_label", node, (), name="".join(names))

    def _generic(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        return self._make("generic", node, children, value=evaluate(node.cursor))

    def _unexposed(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        parent = node.parent.cursor.kind if node.parent else None
        if parent == CursorKind.INITIALIZER_LIST and self._type(node) == "void":
            return self._designated(node, children)
        if len(children) == len(node.children) == 1:
            return self._wrapped(node, children[0])
        if len(children) == 4 and children[0] == children[1] == children[2]:
            return self._make("conditional", node, (children[0], children[3]))
        return self._builtin(node, children)

    def _builtin(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        if any(VA_LIST in self._canonical(child) for child in node.children):
            return self._make("va_arg", node, children[:1])
        value = evaluate(node.cursor)
        if value is not None:
            return self._make("integer", node, (), value=value)
        name = BUILTIN.match(self._source(node))
        if name:
            return self._make("builtin", node, children, name=name.group().decode())
        return self._make("unknown", node, children, name="expression")

    def _wrapped(self, node: CursorNode, child: SyntaxNode) -> SyntaxNode:
        if VA_LIST in self._canonical(node.children[0]) and VA_LIST not in self._canonical(node):
            return self._make("va_arg", node, (child,))
        return child if child.type == self._type(node) else self._make("implicit_cast", node, (child,))

    def _designated(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        """Return a designated initialiser; the fields and indices come in the order of the source."""
        words = self._source(node).partition(b"=")[0]
        names = [child.cursor for child in node.children if child.cursor.kind == CursorKind.FIELD_REF]
        fields = [text(self._lib.clang_getCursorSpelling(cursor)) for cursor in names]
        path = ""
        for child in node.children[:-1]:
            path += f".{fields.pop(0)}" if child.cursor.kind == CursorKind.FIELD_REF else "[]"
        if b"..." in words:
            path = path.replace("[][]", "[...]")
        return self._make("designated", node, children, name=path)

    def _make(
        self,
        kind: str,
        node: CursorNode,
        children: Sequence[SyntaxNode],
        *,
        name: str = "",
        operator: str = "",
        target: str = "",
        local: int = 0,
        value: int | float | None = None,
    ) -> SyntaxNode:
        line = self._unit.position(node.cursor).line
        return SyntaxNode(kind, line, self._type(node), name, operator, target, local, value, tuple(children))

    def _type(self, node: CursorNode) -> str:
        type_ = self._lib.clang_getCursorType(node.cursor)
        return self._unit.without_root(text(self._lib.clang_getTypeSpelling(type_)))

    def _canonical(self, node: CursorNode) -> str:
        type_ = self._lib.clang_getCanonicalType(self._lib.clang_getCursorType(node.cursor))
        return text(self._lib.clang_getTypeSpelling(type_))

    def _source(self, node: CursorNode) -> bytes:
        """Return the text of an expression, or of the expansion that it is part of."""
        extent = self._lib.clang_getCursorExtent(node.cursor)
        begin, end = place(self._lib.clang_getRangeStart(extent)), place(self._lib.clang_getRangeEnd(extent))
        return self._unit.contents(begin.file)[begin.offset : end.offset] if begin.file is not None else b""

    def _written(self, node: CursorNode) -> str:
        """Return a literal as it is written, or "" within a macro."""
        words = self._source(node)
        return words.decode(errors="replace") if re.fullmatch(rb"[0-9.][\w.+-]*|\w?'.*'", words) else ""
