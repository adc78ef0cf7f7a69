"""Rust source as its syntax tree: functions and unsafe code, for reading and for editing.

The parser (tree-sitter) reads masked code, in which comments and the contents of literals are blank and each character
is one byte: offsets in code, tree and text are the same, and literals that do not end cost no time. The arguments of
macros have no syntax; unsafe code in them, and where the parser does not understand the text, is found by words and
brackets, so that none is left out.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.source.lex import mask

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

# White space of Rust outside of ASCII becomes a form feed, any other such character a letter.
WHITE_SPACE = dict.fromkeys(map(ord, "\x85\u200e\u200f\u2028\u2029"), "\f")
NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# The patterns of QUERY by number.
BLOCK, FUNCTION, OTHER, BODY, MISSING = range(5)
QUERY = """
    (unsafe_block "unsafe" @word (block) @body)
    (function_item (function_modifiers "unsafe" @word) body: (_) @body)
    [(function_signature_item (function_modifiers "unsafe" @word)) @whole (impl_item "unsafe" @word body: (_)? @body)
     (trait_item "unsafe" @word body: (_) @body) (foreign_mod_item "unsafe" @word body: (_) @body)]
    (function_item body: (_) @body)
    (MISSING) @missing
"""
UNSAFE = re.compile(r"(?<!r#)\bunsafe\b")
# Up to a brace, which may follow the head of a function with types of arrays; not the type of a function.
UNSAFE_WORDS = re.compile(
    r'unsafe\b(?!\s+(?:extern\s+(?:"[^"]*"\s+)?)?fn\s*\()'
    r"(?P<head>[^][{};]{0,2000}+(?:\[[^{}]{0,200}?\][^][{};]{0,2000}+){0,8})(?=[{;])"
)
FN = re.compile(r"\bfn\b")
# A blank character literal, which is longer than a character if it was an escape.
CHARACTER = re.compile(r"'( +)'")
BRACKET = re.compile(r"[][(){}]")
TEXTS_MAX, ERROR_NODES_MAX = 8, 5_000


class Patch(NamedTuple):
    """The replacement of a part of a text."""

    start: int
    end: int
    text: str


class UnsafeBlock(NamedTuple):
    """The offsets of the keyword, of the opening brace, and after the closing brace of unsafe code."""

    start: int
    brace: int
    end: int


def masked(text: str) -> str:
    """Return the text with comments and the contents of literals blanked; its length does not change."""
    if not text.isascii():
        text = NOT_ASCII.sub("_", text.translate(WHITE_SPACE))
    return mask(text.encode(), "rust").text.decode()


@cache
def _language() -> "Language":
    import tree_sitter_rust  # noqa: PLC0415 - most scans have no Rust
    from tree_sitter import Language  # noqa: PLC0415

    return Language(tree_sitter_rust.language())


@cache
def _query() -> "Query":
    from tree_sitter import Query  # noqa: PLC0415

    return Query(_language(), QUERY)


class TextLines:
    """The lines of a text by their offsets."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def line_starts(self) -> list[int]:
        """The offsets of the lines."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place that rustc names, -1 if there is none."""
        return self.line_starts[line - 1] + column - 1 if 0 < line <= len(self.line_starts) else -1

    def line_of(self, offset: int) -> int:
        """Return the index of the line of an offset."""
        return bisect_right(self.line_starts, offset) - 1

    def indentation(self, offset: int) -> str:
        """Return the white space at the start of the line of an offset."""
        start = self.line_starts[self.line_of(offset)]
        line = self.text[start : self.text.find("\n", start) % (len(self.text) + 1)]
        return line[: len(line) - len(line.lstrip(" \t"))]


class RustText(TextLines):
    """The text of a file, its masked code, and what its syntax tree says of it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.code = masked(text)
        self._parsed = CHARACTER.sub(_as_string, self.code).encode()

    def parse(self, start: int, end: int) -> "Node":
        """Return the root of the syntax tree of a part of the code; all offsets are those of the whole text."""
        from tree_sitter import Parser, Point, Range  # noqa: PLC0415

        part = Range(Point(0, 0), Point(0, 0), start, end)
        whole = end - start == len(self.code)
        return Parser(_language(), included_ranges=None if whole else [part]).parse(self._parsed).root_node

    @cached_property
    def root(self) -> "Node":
        """The root of the syntax tree of the whole text."""
        return self.parse(0, len(self.code))

    def block_syntax(self, block: UnsafeBlock) -> "Node | None":
        """Return the syntax of what is in a block, None if it is not understood."""
        node: Node | None = self.parse(block.brace, block.end)
        if node is None or node.has_error:
            return None
        while node and node.type != "block":
            node = node.named_child(0)
        return node

    @cached_property
    def matches(self) -> list[list[Mapping[str, "Node"]]]:
        """The nodes of each pattern of QUERY; none if too much is not understood."""
        from tree_sitter import QueryCursor  # noqa: PLC0415

        found: list[list[Mapping[str, Node]]] = [[] for _ in range(_query().pattern_count)]
        matches = QueryCursor(_query()).matches(self.root) if _is_searchable(self.root) else []
        for number, captures in matches:
            found[number].append({name: nodes[0] for name, nodes in captures.items()})
        return found

    @cached_property
    def blocks(self) -> list[UnsafeBlock]:
        """The unsafe blocks in order."""
        in_words = (one for head, one in self._in_words if not head and one.brace in self._pairs)
        return sorted([*map(_extent, self.matches[BLOCK]), *in_words])

    @cached_property
    def unsafe_functions(self) -> list[UnsafeBlock]:
        """The unsafe functions with a body, in order."""
        in_words = (one for head, one in self._in_words if FN.search(head) and one.brace in self._pairs)
        return sorted([*map(_extent, self.matches[FUNCTION]), *in_words])

    @cached_property
    def unsafe_code(self) -> list[UnsafeBlock]:
        """All unsafe blocks, functions, implementations and declarations, in order."""
        nodes = (_extent(one) for number in (BLOCK, FUNCTION, OTHER) for one in self.matches[number])
        return sorted([*nodes, *(one for _, one in self._in_words)])

    @cached_property
    def _in_words(self) -> list[tuple[str, UnsafeBlock]]:
        """The heads and extents of unsafe code in the arguments of macros, and where the syntax is not understood."""
        read = {one["word"].start_byte for number in (BLOCK, FUNCTION, OTHER) for one in self.matches[number]}
        heads = (UNSAFE_WORDS.match(self.code, word.start()) for word in UNSAFE.finditer(self.code))
        return [
            (head["head"].strip(), UnsafeBlock(head.start(), head.end(), self._pairs.get(head.end(), head.end()) + 1))
            for head in heads
            if head and head.start() not in read
        ]

    @cached_property
    def _pairs(self) -> Mapping[int, int]:
        """The offset of the closing bracket of each opening one."""
        pairs, stack = dict[int, int](), list[int]()
        for match in BRACKET.finditer(self.code):
            if match[0] in "([{":
                stack.append(match.start())
            elif stack:
                pairs[stack.pop()] = match.start()
        return pairs

    @cached_property
    def bodies(self) -> list[tuple[int, int]]:
        """The offsets of the braces of each function with a body, in order."""
        return sorted((one["body"].start_byte, one["body"].end_byte - 1) for one in self.matches[BODY])

    def function_of(self, offset: int) -> int:
        """Return the number of the innermost function around an offset, -1 if there is none."""
        around = [number for number, (start, end) in enumerate(self.bodies) if start < offset < end]
        return around[-1] if around else -1

    def in_unsafe_function(self, block: UnsafeBlock) -> bool:
        """Return whether a block is in an unsafe function, where rustc does not demand it."""
        return any(one.brace < block.start < one.end for one in self.unsafe_functions)

    def lines_within(self, start: int, end: int) -> Iterator[int]:
        """Yield the offsets of lines that begin after `start`, before `end`, and outside of string literals."""
        first = bisect_right(self.line_starts, start)
        for offset in self.line_starts[first : bisect_left(self.line_starts, end)]:
            if self.code.count('"', 0, offset) % 2 == 0:
                yield offset

    def lines(self, extents: Iterable[UnsafeBlock]) -> int:
        """Return the number of lines of unsafe code."""
        return len({line for one in extents for line in range(self.line_of(one.start), self.line_of(one.end - 1) + 1)})


def _as_string(character: re.Match[str]) -> str:
    return character[0] if len(character[1]) == 1 else f'"{character[1]}"'


def _is_searchable(root: "Node") -> bool:
    """Return whether no error has so many nodes that a query, which is quadratic in them, takes long."""
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if node.is_error and node.child_count > ERROR_NODES_MAX:
            return False
        nodes += [child for child in node.children if child.has_error]
    return True


def _extent(captures: Mapping[str, "Node"]) -> UnsafeBlock:
    word, body = captures["word"], captures.get("body")
    end = (body or captures.get("whole", word)).end_byte
    return UnsafeBlock(word.start_byte, body.start_byte if body else end, end)


# The same texts are asked for their items and for their unsafe code.
rust_text = lru_cache(TEXTS_MAX)(RustText)


def apply_patches(text: str, patches: Iterable[Patch]) -> str:
    """Return the text with patches that do not overlap."""
    pieces, last = list[str](), 0
    for patch in sorted(patches):
        pieces += text[last : patch.start], patch.text
        last = patch.end
    return "".join((*pieces, text[last:]))


def unsafe_lines(text: str) -> int:
    """Return the number of lines of unsafe blocks, functions, implementations and declarations."""
    return rust_text(text).lines(rust_text(text).unsafe_code)


def unsafe_block_lines(text: str) -> int:
    """Return the number of lines of unsafe blocks."""
    return rust_text(text).lines(rust_text(text).blocks)
