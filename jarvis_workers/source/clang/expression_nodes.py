"""Create the nodes of expressions, with type and line."""

from collections.abc import Sequence

from jarvis_workers.source.clang.cursor_tree import CursorNode
from jarvis_workers.source.clang.libclang import library, text
from jarvis_workers.source.clang.member_paths import MemberPaths, MemberStep
from jarvis_workers.source.clang.syntax_tree import SyntaxNode
from jarvis_workers.source.clang.translation_unit import TranslationUnit
from jarvis_workers.source.clang.type_reader import TypeReader


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
        line = self._unit.position(node.cursor).line
        return SyntaxNode(kind, line, self.type_of(node), name, operator, target, local, value, tuple(children))

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

    def canonical(self, node: CursorNode) -> str:
        type_ = self._lib.clang_getCanonicalType(self._lib.clang_getCursorType(node.cursor))
        return text(self._lib.clang_getTypeSpelling(type_))
