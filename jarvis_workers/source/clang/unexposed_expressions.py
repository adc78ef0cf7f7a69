"""Expressions without a cursor kind of their own in libclang, distinguished by their types, children and text.

They include implicit casts, `a ?: b`, va_arg, offsetof, designated initialisers, and builtins with their own syntax.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from jarvis_workers.source.clang.constants import evaluate
from jarvis_workers.source.clang.cursor_tree import CursorNode
from jarvis_workers.source.clang.expression_nodes import ExpressionNodes
from jarvis_workers.source.clang.kinds import CursorKind
from jarvis_workers.source.clang.libclang import library, text
from jarvis_workers.source.clang.macro_text import ExpansionText
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

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
        return child if child.type == self._nodes.type_of(node) else self._nodes.make("implicit_cast", node, (child,))

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
