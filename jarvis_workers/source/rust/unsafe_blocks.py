"""The unsafe blocks in a Rust file: their extents, the lines they cover, and the patches that remove them.

Offsets are those of the text; masking does not change them.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from jarvis_workers.source.rust.rust_items import masked

KEYWORD = "unsafe"
BLOCK = re.compile(r"\bunsafe\s*(?=\{)")
# A head may have types of arrays, with a semicolon. The bounds keep the time linear for any text.
PLAIN, ARRAY = r"[^][{};]{0,2000}+", r"\[(?:[^][]|\[[^][]{0,99}+\]){0,200}+\]"
HEAD = rf"{PLAIN}(?:{ARRAY}{PLAIN}){{0,50}}+"
FUNCTION = re.compile(rf"\bfn\s+\w+{HEAD}(?=\{{)")
UNSAFE_FUNCTION = re.compile(rf'\bunsafe\s+(?:extern\s+(?:"[^"]*"\s+)?)?fn\b{HEAD}(?=\{{)')
# A block, or the head of a function, an implementation or a declaration; not the type of a function.
UNSAFE_CODE = re.compile(rf'\bunsafe\b(?!\s+(?:extern\s+(?:"[^"]*"\s+)?)?fn\s*\(){HEAD}(?=[{{;]|$)')
BRACKET = re.compile(r"[][(){}]")
SPACE = " \t\r\n"
# What precedes and follows a block that is a whole value, and one that is the end of a body.
VALUE_LEAD, VALUE_END = re.compile(r"(?:(?<![=<>!+*/&|^%-])=|=>|[(,]|\breturn)$"), frozenset(";,)")
BODY_LEAD = frozenset("{;}")
SAFETY = "SAFETY"


class Patch(NamedTuple):
    """The replacement of a part of a text."""

    start: int
    end: int
    text: str


class UnsafeBlock(NamedTuple):
    """The offsets of the keyword, of the opening brace, and after the closing brace of a block."""

    start: int
    brace: int
    end: int


class RustText:
    """The text of a file, masked and with its brackets paired."""

    def __init__(self, text: str) -> None:
        self.text, self.code = text, masked(text)

    @cached_property
    def pairs(self) -> Mapping[int, int]:
        """The offset of the closing bracket of each opening one."""
        pairs, stack = dict[int, int](), list[int]()
        for match in BRACKET.finditer(self.code):
            if match[0] in "([{":
                stack.append(match.start())
            elif stack:
                pairs[stack.pop()] = match.start()
        return pairs

    @cached_property
    def blocks(self) -> list[UnsafeBlock]:
        """The unsafe blocks in order."""
        found = (match.span() for match in BLOCK.finditer(self.code))
        return [UnsafeBlock(start, brace, self.pairs[brace] + 1) for start, brace in found if brace in self.pairs]

    @cached_property
    def line_starts(self) -> list[int]:
        """The offsets of the lines."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @cached_property
    def _quotes(self) -> list[int]:
        return [match.start() for match in re.finditer('"', self.code)]

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

    def lines_within(self, start: int, end: int) -> Iterator[int]:
        """Yield the offsets of lines that begin after `start`, before `end`, and outside of string literals."""
        for offset in self.line_starts[bisect_right(self.line_starts, start) : bisect_left(self.line_starts, end)]:
            if bisect_left(self._quotes, offset) % 2 == 0:
                yield offset

    @cached_property
    def bodies(self) -> list[tuple[int, int]]:
        """The offsets of the braces of each function with a body, in order."""
        braces = (match.end() for match in FUNCTION.finditer(self.code))
        return [(brace, self.pairs[brace]) for brace in braces if brace in self.pairs]

    def function_of(self, offset: int) -> int:
        """Return the number of the innermost function around an offset, -1 if there is none."""
        around = [number for number, (start, end) in enumerate(self.bodies) if start < offset < end]
        return around[-1] if around else -1

    def in_unsafe_function(self, block: UnsafeBlock) -> bool:
        """Return whether a block is in an unsafe function, where rustc does not demand it."""
        bodies = (match.end() for match in UNSAFE_FUNCTION.finditer(self.code, 0, block.start))
        return any(self.pairs.get(brace, 0) > block.start for brace in bodies)


def apply_patches(text: str, patches: Iterable[Patch]) -> str:
    """Return the text with patches that do not overlap."""
    pieces, last = list[str](), 0
    for patch in sorted(patches):
        pieces += text[last : patch.start], patch.text
        last = patch.end
    return "".join((*pieces, text[last:]))


def unsafe_lines(text: str, code: re.Pattern[str] = UNSAFE_CODE) -> int:
    """Return the number of lines of unsafe blocks, functions and implementations; with BLOCK, of blocks alone."""
    source, lines = RustText(text), set[int]()
    for match in code.finditer(source.code):
        end = source.pairs.get(match.end(), match.end())
        lines.update(range(source.line_of(match.start()), source.line_of(end) + 1))
    return len(lines)


def blanked(source: RustText, blocks: Iterable[UnsafeBlock]) -> str:
    """Return the text with the keywords of blocks blanked: all other offsets stay."""
    return apply_patches(
        source.text, (Patch(one.start, one.start + len(KEYWORD), " " * len(KEYWORD)) for one in blocks)
    )


class Removal(NamedTuple):
    """The patches that remove a block, without those of its indentation; `shift` is by how much that shrinks."""

    patches: tuple[Patch, ...]
    start: int
    end: int
    shift: int


def removal(source: RustText, block: UnsafeBlock) -> Removal:
    """Return how to remove a block: with its braces if they are not needed either, else only its keyword."""
    text, code = source.text, source.code
    inner = text[block.brace + 1 : block.end - 1]
    start = block.brace + 1 + len(inner) - len(inner.lstrip(SPACE))
    end = block.brace + 1 + len(inner.rstrip(SPACE))
    keyword = Removal((Patch(block.start, block.brace, ""),), start, end, 0)
    ends_in_comment = code[end - 1 : end] == " " and not re.match(r"[ \t]*\r?\n", text[block.end :])
    before, after = code[: block.start].rstrip(SPACE), code[block.end :].lstrip(SPACE)
    is_body = before[-1:] in BODY_LEAD and after[:1] == "}"
    discarded = re.search(r"\blet\s+_\s*=$", before[-20:])
    is_value = (
        not discarded and VALUE_LEAD.search(before[-8:]) and after[:1] in VALUE_END and _is_expression(code[start:end])
    )
    if start >= end or ends_in_comment or not (is_body or is_value):
        return keyword
    shift = 0
    if source.line_of(start) > source.line_of(block.start):
        shift = max(0, len(source.indentation(start)) - len(source.indentation(block.start)))
    return Removal((Patch(block.start, start, ""), Patch(end, block.end, "")), start, end, shift)


def _is_expression(code: str) -> bool:
    """Return whether the inside of a block is one expression: no statement ends in it outside of brackets."""
    depth = 0
    for match in re.finditer(r"[][(){};]", code):
        depth += {"(": 1, "[": 1, "{": 1, ";": 0}.get(match[0], -1)
        if match[0] == ";" and not depth:
            return False
    return not re.match(r"let\b|#|'", code) and not re.search(r"\}\s*[\w(\[*&]", code)


def dedented(source: RustText, one: Removal) -> Iterator[Patch]:
    """Yield the patches that shift the lines of a removed block to the left."""
    for line in source.lines_within(one.start, one.end):
        if width := min(one.shift, len(source.indentation(line))):
            yield Patch(line, line + width, "")


def without_block(source: RustText, block: UnsafeBlock) -> Iterator[Patch]:
    """Yield the patches that remove a block, with the comment that justified it."""
    one = removal(source, block)
    yield from (*one.patches, *dedented(source, one))
    first, line = safety_comment(source, block), source.line_of(block.start)
    if first is not None and sum(source.line_of(other.start) == line for other in source.blocks) == 1:
        yield Patch(source.line_starts[first], source.line_starts[line], "")


def safety_comment(source: RustText, block: UnsafeBlock) -> int | None:
    """Return the index of the line where the SAFETY comment above a block begins, or None if there is none."""
    line = source.line_of(block.start) - 1
    while line >= 0:
        words = source.text[source.line_starts[line] : source.line_starts[line + 1]].strip()
        if not words.startswith(("//", "#[")):
            return None
        if words.startswith("//") and SAFETY in words.upper():
            return line
        line -= 1
    return None
