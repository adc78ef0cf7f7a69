"""Make the nodes of expressions, with type and line."""

from collections.abc import Sequence

from jarvis_workers.source.clang.cursor_tree import CursorNode
from jarvis_workers.source.clang.libclang import library, text
from jarvis_workers.source.clang.syntax_tree import SyntaxNode
from jarvis_workers.source.clang.translation_unit import TranslationUnit


class ExpressionNodes:
    def __init__(self, unit: TranslationUnit) -> None:
        self._unit = unit
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
        line = self._unit.position(node.cursor).line
        return SyntaxNode(kind, line, self.type_of(node), name, operator, target, local, value, tuple(children))

    def type_of(self, node: CursorNode) -> str:
        type_ = self._lib.clang_getCursorType(node.cursor)
        return self._unit.without_root(text(self._lib.clang_getTypeSpelling(type_)))

    def canonical(self, node: CursorNode) -> str:
        type_ = self._lib.clang_getCanonicalType(self._lib.clang_getCursorType(node.cursor))
        return text(self._lib.clang_getTypeSpelling(type_))
