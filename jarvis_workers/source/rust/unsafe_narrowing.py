"""Find the smallest parts of an unsafe block that need it: statements, conditions, initial values and arms of matches.

Names bound in a block are not visible outside of it, so an unsafe `let` gets a block around its value.  Where another
block could change the meaning of a place (patterns with `ref`) or the life of a temporary value (calls in the head of a
`match` or `if let`), and where the syntax is not understood, a larger part is taken.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.source.rust.rust_items import ATTRIBUTES, item_kind
from jarvis_workers.source.rust.rust_syntax import RustText, UnsafeBlock

if TYPE_CHECKING:
    from tree_sitter import Node

CALL = re.compile(r"[\w>)\]!]\s*\(|\?")
BY_REFERENCE = re.compile(r"\bref\b")
LOOPS = ("for_expression", "loop_expression", "while_expression")
DIVISIBLE = frozenset(("block", "unsafe_block", "if_expression", "match_expression", *LOOPS))
DEPTH_MAX = 50


class UnsafePart(NamedTuple):
    """A part of a block that becomes an unsafe block: whole statements, or an expression."""

    start: int
    end: int
    is_run: bool


def narrowed_parts(source: RustText, block: UnsafeBlock, needs: Sequence[int]) -> list[UnsafePart]:
    """Return the parts of a block that need it, given the offsets of its unsafe operations.

    It is the whole block, as one part, if all lines need it.
    """
    narrowing, syntax = _Narrowing(source, needs), source.block_syntax(block)
    parts = narrowing.statements(syntax) if syntax else []
    code = source.code[block.brace + 1 : block.end - 1]
    first = block.brace + 1 + len(code) - len(code.lstrip())
    content = UnsafePart(first, max(first + 1, block.brace + 1 + len(code.rstrip())), is_run=True)
    is_smaller = parts and narrowing.lines(parts) < narrowing.lines([content])
    return parts if is_smaller else [UnsafePart(block.start, block.end, is_run=False)]


class _Narrowing:
    """Raises ValueError for code that must not be divided."""

    def __init__(self, source: RustText, needs: Sequence[int]) -> None:
        self._source, self._code, self._needs = source, source.code, needs
        self._depth = 0

    def lines(self, parts: Sequence[UnsafePart]) -> int:
        """Return the number of lines that parts cover."""
        spans = ((self._source.line_of(one.start), self._source.line_of(one.end - 1) + 1) for one in parts)
        return len({line for span in spans for line in range(*span)})

    def statements(self, block: "Node") -> list[UnsafePart]:
        """Return the parts of the statements of a block; whole neighbours become one part."""
        parts, lead = list[UnsafePart](), -1
        for one in block.named_children:
            first = one.start_byte if lead < 0 else lead
            if one.type in ATTRIBUTES:
                lead = first
                continue
            try:
                parts += self._statement(one, has_attributes=lead >= 0) if self._needed(first, one.end_byte) else ()
            except ValueError:
                # The statements that follow use the names that it binds.
                last = len(self._code[: block.end_byte - 1].rstrip())
                parts.append(UnsafePart(first, last, is_run=True))
                break
            lead = -1
        return list(self._joined(parts))

    def _needed(self, start: int, end: int) -> bool:
        return any(start <= need < end for need in self._needs)

    def _joined(self, parts: Sequence[UnsafePart]) -> Iterator[UnsafePart]:
        run: UnsafePart | None = None
        for part in parts:
            if run and part.is_run and run.is_run and not self._code[run.end : part.start].strip():
                run = run._replace(end=part.end)
                continue
            if run:
                yield run
            run = part
        if run:
            yield run

    def _statement(self, node: "Node", *, has_attributes: bool) -> list[UnsafePart]:
        if has_attributes or item_kind(node):
            raise ValueError("an item, or an attribute")
        if node.type == "let_declaration":
            return self._let(node)
        # With a semicolon, it stays one statement.
        inner = node.named_child(0) if node.type == "expression_statement" else None
        return self._divided(inner if inner and inner.end_byte == node.end_byte else node, is_run=True)

    def _let(self, node: "Node") -> list[UnsafePart]:
        pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
        if pattern and self._text(pattern) == "_":
            return [UnsafePart(node.start_byte, node.end_byte, is_run=True)]
        if not pattern or not value or BY_REFERENCE.search(self._text(pattern)):
            raise ValueError("its value cannot be separated")
        if self._needed(node.start_byte, value.start_byte) or node.child_by_field_name("alternative"):
            raise ValueError("a pattern, or `let … else`")
        return self._divided(value, is_run=False)

    def _text(self, node: "Node") -> str:
        return self._code[node.start_byte : node.end_byte]

    def _divided(self, node: "Node", *, is_run: bool) -> list[UnsafePart]:
        """Return the parts of an expression, or the whole if they do not save lines, counting their comments."""
        whole = [UnsafePart(node.start_byte, node.end_byte, is_run)]
        if node.type not in DIVISIBLE or self._depth > DEPTH_MAX:
            return whole
        self._depth += 1
        try:
            parts = list(self._bodies(node))
        except ValueError:
            return whole
        finally:
            self._depth -= 1
        return parts if self.lines(parts) + len(parts) <= self.lines(whole) else whole

    def _bodies(self, node: "Node") -> Iterator[UnsafePart]:
        """Yield the parts of a block, loop, `if` or `match`."""
        if node.type == "block":
            yield from self.statements(node)
            return
        yield from self._head(node)
        for one in node.named_children:
            if one.type == "block":
                yield from self.statements(one)
            elif one.type == "match_block":
                yield from self._arms(one)
        other = node.child_by_field_name("alternative")
        if other and (last := other.named_child(0)):
            yield from self._bodies(last)

    def _head(self, node: "Node") -> Iterator[UnsafePart]:
        value = head = node.child_by_field_name("condition") or node.child_by_field_name("value")
        if not head or not value:
            return
        start = (node.child_by_field_name("pattern") or head).start_byte
        if not self._needed(start, head.end_byte):
            return
        if head.type == "let_chain":
            raise ValueError("a chain of conditions")
        if head.type == "let_condition":
            value = head.child_by_field_name("value") or head
        bound = node if node.type == "match_expression" else head
        is_place = node.type == "match_expression" or head.type == "let_condition"
        if is_place and (BY_REFERENCE.search(self._text(bound)) or CALL.search(self._text(head))):
            raise ValueError("a place, or a temporary value")
        if self._needed(start, value.start_byte):
            raise ValueError("a pattern")
        yield UnsafePart(value.start_byte, value.end_byte, is_run=False)

    def _arms(self, block: "Node") -> Iterator[UnsafePart]:
        for arm in block.named_children:
            value = arm.child_by_field_name("value")
            if not value or self._needed(arm.start_byte, value.start_byte):
                raise ValueError("a guard")
            if self._needed(value.start_byte, value.end_byte):
                yield from self._divided(value, is_run=False)
