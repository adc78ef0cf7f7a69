"""Expressions of a syntax tree, with one converter per cursor kind."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from jarvis_workers.source.clang.constants import evaluate
from jarvis_workers.source.clang.cursor_tree import CursorNode
from jarvis_workers.source.clang.declarations import DeclarationKeys
from jarvis_workers.source.clang.kinds import CursorKind, TypeKind
from jarvis_workers.source.clang.libclang import Cursor, library, text
from jarvis_workers.source.clang.macros import ExpansionText
from jarvis_workers.source.clang.syntax_tree import SyntaxNode
from jarvis_workers.source.clang.translation_unit import TranslationUnit
from jarvis_workers.source.clang.type_reader import MemberPaths, MemberStep, TypeReader

# Create the nodes of expressions, with type and line.

# Only these have array or function type, names unless they are those of parameters, and `*`.
UNDECAYED = ("name", "member", "subscript", "string", "compound_literal", "initializers", "designated")


class ExpressionNodes:
    def __init__(self, unit: TranslationUnit, types: TypeReader, members: MemberPaths) -> None:
        self._unit = unit
        self._types = types
        self.members = members
        self._lib = library()

    def make(
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
        line, type_ = self._unit.position(node.cursor).line, self.type_of(node)
        if children and (kind == "parentheses" or operator == "__extension__"):
            type_ = children[0].type
        elif kind not in UNDECAYED and operator != "*":
            type_ = self.value_type(node)
        return SyntaxNode(kind, line, type_, name, operator, target, local, value, tuple(children))

    def make_member(self, node: CursorNode, object_: SyntaxNode, operator: str, step: MemberStep) -> SyntaxNode:
        line = self._unit.position(node.cursor).line
        type_ = self._types.spell(step.type)
        return SyntaxNode(
            "member", line, type_, step.name, operator, step.record, value=step.number, children=(object_,)
        )

    def string(self, node: CursorNode) -> str:
        """Return a string literal as C; `__FILE__` is relative to the root."""
        return self._unit.without_root(text(self._lib.clang_getCursorSpelling(node.cursor)))

    def type_of(self, node: CursorNode) -> str:
        return self._types.spell(self._lib.clang_getCursorType(node.cursor))

    def value_type(self, node: CursorNode) -> str:
        """Return the type of a value or of a parameter, which is no array."""
        return self._types.spell_adjusted(self._lib.clang_getCursorType(node.cursor))

    def canonical(self, node: CursorNode) -> str:
        type_ = self._lib.clang_getCanonicalType(self._lib.clang_getCursorType(node.cursor))
        return text(self._lib.clang_getTypeSpelling(type_))


# Expressions without a cursor kind of their own in libclang, distinguished by their types, children and text.

BUILTIN = re.compile(rb"(__(?:builtin|atomic|sync|c11)_\w+|atomic_\w+)")
# Bytes that the name of a builtin is looked for in, where it is the argument of a macro.
LONGEST_NAME = 80
VA_LIST = "__va_list_tag"


class UnexposedExpressions:
    def __init__(self, nodes: ExpressionNodes, source: ExpansionText) -> None:
        self._nodes = nodes
        self._source = source
        self._lib = library()

    def convert(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        """Return the node of an expression that libclang does not expose."""
        parent = node.parent.cursor.kind if node.parent else None
        if parent == CursorKind.INITIALIZER_LIST and self._nodes.type_of(node) == "void":
            return self._designated(node, children)
        if len(children) == len(node.children) == 1:
            return self._wrapped(node, children[0])
        if len(children) == 4 and children[0] == children[1] == children[2]:
            return self._nodes.make("conditional", node, (children[0], children[3]))
        return self._builtin(node, children)

    def _builtin(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        if any(VA_LIST in self._nodes.canonical(child) for child in node.children):
            return self._nodes.make("va_arg", node, children[:1])
        value = evaluate(node.cursor)
        if value is not None:
            return self._nodes.make("integer", node, (), value=value)
        texts_here = (self._source.of(node.cursor), self._source.from_written(node.cursor, LONGEST_NAME))
        written = next((match for words in texts_here if (match := BUILTIN.match(words))), None)
        texts = [written.group()] if written else self._source.of_macros(node.cursor)
        names = {name for words in texts for name in BUILTIN.findall(words)}
        if len(names) == 1:
            return self._nodes.make("builtin", node, children, name=names.pop().decode())
        return self._nodes.make("unknown", node, children, name="expression")

    def _wrapped(self, node: CursorNode, child: SyntaxNode) -> SyntaxNode:
        if VA_LIST in self._nodes.canonical(node.children[0]) and VA_LIST not in self._nodes.canonical(node):
            return self._nodes.make("va_arg", node, (child,))
        if child.type in (self._nodes.type_of(node), self._nodes.value_type(node)):
            return child
        return self._nodes.make("implicit_cast", node, (child,))

    def _designated(self, node: CursorNode, children: Sequence[SyntaxNode]) -> SyntaxNode:
        """Return a designated initialiser, with fields and indices in source order."""
        words = self._source.of(node.cursor).partition(b"=")[0]
        names = [child.cursor for child in node.children if child.cursor.kind == CursorKind.FIELD_REF]
        fields = [text(self._lib.clang_getCursorSpelling(cursor)) for cursor in names]
        path = ""
        for child in node.children[:-1]:
            path += f".{fields.pop(0)}" if child.cursor.kind == CursorKind.FIELD_REF else "[]"
        if b"..." in words:
            path = path.replace("[][]", "[...]")
        indices = [child for child in node.children[:-1] if child.cursor.kind != CursorKind.FIELD_REF]
        values = [replace(built, value=evaluate(child.cursor)) for built, child in zip(children, indices, strict=False)]
        return self._nodes.make("designated", node, (*values, *children[len(values) :]), name=path)


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
        made = self._nodes.make(
            "name",
            node,
            (),
            name=text(self._lib.clang_getCursorSpelling(node.cursor)),
            operator="thread_local" if self._lib.clang_getCursorTLSKind(referenced) else "",
            target=key.key if key else "",
            local=self._locals.get(referenced.declaration, 0),
            value=self._lib.clang_getEnumConstantDeclValue(referenced) if enumerator else None,
        )
        is_parameter = referenced.kind == CursorKind.PARAMETER
        return replace(made, type=self._nodes.value_type(node)) if is_parameter else made

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
