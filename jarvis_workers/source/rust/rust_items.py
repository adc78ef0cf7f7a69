"""The items at the top level of a Rust file: their kinds, names, attributes and texts.

Comments and attributes belong to the item that follows. What the parser does not understand, such as text after an
unclosed brace, is an item of the kind "text", as are macros.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.source.rust.rust_syntax import MISSING, TEXTS_MAX, RustText, rust_text

if TYPE_CHECKING:
    from tree_sitter import Node

# The kinds of items whose nodes are not named `KIND_item`.
KINDS = {
    "associated_type": "type",
    "extern_crate_declaration": "extern",
    "foreign_mod_item": "extern",
    "function_item": "fn",
    "function_signature_item": "fn",
    "macro_definition": "macro_rules",
    "use_declaration": "use",
}
BODIED = ("extern", "fn", "impl", "mod", "trait")
ATTRIBUTES = ("attribute_item", "inner_attribute_item")
# The first word of what an implementation or an import is about.
ABOUT = re.compile(r"(?:pub\b\s*(?:\([^)]*\)\s*)?|unsafe\s+|default\s+)*(?:impl|use)\b\s*!?\s*((?:r#)?\w+)")
INNER_DOCUMENT = re.compile(r"(?:\s*(?://![^\n]*\n|#!\[(?:[^][]|\[[^]]*\])*\]))+")
EXPORT = re.compile(r'^#\[(?:unsafe\()?(?:no_mangle|export_name = "[^"\n]*")\)?\]\n', re.MULTILINE)


class RustItem(NamedTuple):
    """An item; `line` is the line, from 1, of its first word after comments and attributes.

    Its definition begins at the offset `lead` of the text, its body, if it has one in braces, at `body`.
    """

    kind: str
    name: str
    text: str
    line: int
    lead: int = 0
    body: int | None = None
    attributes: tuple[str, ...] = ()

    @property
    def definition(self) -> str:
        """The text without the comments and attributes before it."""
        return self.text[self.lead :]

    @property
    def head(self) -> str:
        """The definition up to its body."""
        return self.text[self.lead : self.body]


@lru_cache(TEXTS_MAX)
def read_items(text: str) -> tuple[RustItem, ...]:
    """Return the items of a file in order."""
    return tuple(_items(rust_text(text)))


def public_function(source: RustText, offset: int) -> Sequence[str] | None:
    """Return the attributes of the public function that begins at an offset, None if there is none."""
    word = source.root.descendant_for_byte_range(offset, offset + 1)
    visibility = word.parent if word else None
    node = visibility.parent if visibility else None
    if not node or not visibility or node.type != "function_item" or _part(source, visibility) != "pub":
        return None
    attributes, before = list[str](), node.prev_named_sibling
    while before and before.type in ATTRIBUTES:
        attributes.append(_part(source, before))
        before = before.prev_named_sibling
    return attributes


def item_kind(node: "Node") -> str:
    """Return the keyword of an item, "" for anything else."""
    kind = node.type.removesuffix("_item")
    return KINDS.get(node.type) or ("" if kind == node.type or node.type in ATTRIBUTES else kind)


def _items(source: RustText) -> Iterator[RustItem]:
    document, attributes = INNER_DOCUMENT.match(source.text), list["Node"]()
    start, unread = document.end() if document else 0, -1
    for node in source.root.children:
        if node.start_byte < start:
            continue
        if node.type in ATTRIBUTES:
            attributes.append(node)
        elif _is_unread(source, node):
            unread, attributes = node.end_byte, []
        else:
            if unread >= 0:
                yield _text(source, start, unread)
                start, unread = unread, -1
            yield _item(source, start, node, attributes)
            start, attributes = node.end_byte, []
    if source.code[start:].strip():
        yield _text(source, start, len(source.code))


def _is_unread(source: RustText, node: "Node") -> bool:
    """Return whether a node is not understood, or lacks a closing bracket."""
    if node.is_error or (source.root.is_error and not item_kind(node)):
        return True
    return node.has_error and any(
        one["missing"].type in ")]}" and node.start_byte <= one["missing"].start_byte <= node.end_byte
        for one in source.matches[MISSING]
    )


def _text(source: RustText, start: int, end: int) -> RustItem:
    code = source.code[start:end]
    first = start + len(code) - len(code.lstrip())
    return RustItem("text", "", source.text[start:end].strip(), source.line_of(first) + 1)


def _item(source: RustText, start: int, node: "Node", attributes: Iterable["Node"]) -> RustItem:
    piece, kind = source.text[start : node.end_byte], item_kind(node) or "text"
    start += len(piece) - len(piece.lstrip())
    body = node.child_by_field_name("body") if kind in BODIED else None
    name = node.child_by_field_name("name")
    about = ABOUT.match(source.code, node.start_byte) if kind in ("impl", "use") else None
    return RustItem(
        kind,
        _part(source, name) if name else about[1] if about else "",
        piece.strip(),
        node.start_point[0] + 1,
        node.start_byte - start,
        body.start_byte - start if body else None,
        tuple(_part(source, one.children[-2]) for one in attributes),
    )


def _part(source: RustText, node: "Node") -> str:
    return source.text[node.start_byte : node.end_byte]
