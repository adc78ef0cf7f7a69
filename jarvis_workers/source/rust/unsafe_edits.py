"""Rewrite the needed unsafe blocks of a Rust file: reduce them to the parts that need them, with SAFETY comments.

A comment lists what rustc says must hold; nobody has proven it, and the comment says so.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from jarvis_workers.source.rust.rust_items import ATTRIBUTES, item_kind
from jarvis_workers.source.rust.rust_syntax import Patch, RustText, UnsafeBlock, apply_patches
from jarvis_workers.source.rust.unsafe_narrowing import UnsafePart, narrowed_parts

KEYWORD = "unsafe"
SPACE = " \t\r\n"
# What precedes and follows a block that is a whole value, and one that is the end of a body.
VALUE_LEAD, VALUE_END = re.compile(r"(?:(?<![=<>!+*/&|^%-])=|=>|[(,]|\breturn)$"), frozenset(";,)")
BODY_LEAD = frozenset("{;}")
SAFETY = "SAFETY"
PREMISES = (
    (re.compile("dereference of raw pointer"), "raw pointers are valid and aligned"),
    (re.compile("call to (?:unsafe )?function `(?:[^`]*::)?([^`:]+)`"), "the conditions of {} hold"),
    (re.compile("mutable static"), "nothing else uses the mutable statics meanwhile"),
    (re.compile("extern static"), "the C library defines the statics"),
    (re.compile("union field"), "the union holds this field"),
)
NAMES_MAX, UNIT = 4, 4


class UnsafeOperation(NamedTuple):
    """The offset of an operation that needs an unsafe block, and what rustc says about it."""

    offset: int
    message: str


class NeededBlock(NamedTuple):
    """A block with the operations that need it."""

    block: UnsafeBlock
    operations: tuple[UnsafeOperation, ...]


class RewrittenText(NamedTuple):
    """A text, the number of comments that were added to it, and the blocks that became smaller."""

    text: str
    annotated: int
    narrowed: tuple[UnsafeBlock, ...]


def rewrite(source: RustText, needed: Sequence[NeededBlock], fixed: Collection[UnsafeBlock] = ()) -> RewrittenText:
    """Return the text with smaller blocks and with comments; the `fixed` blocks do not become smaller."""
    patches, shifts = list[Patch](), defaultdict[int, int](int)
    comments, narrowed = defaultdict[tuple[int, str], list[str]](list), list[UnsafeBlock]()
    for block, operations in needed:
        whole = UnsafePart(block.start, block.end, is_run=False)
        parts = [whole] if block in fixed else narrowed_parts(source, block, [one.offset for one in operations])
        if parts != [whole]:
            narrowed.append(block)
            patches += _narrowed(source, block, parts, shifts)
        for part in parts:
            own = [one.message for one in operations if part.start <= one.offset < part.end]
            place = _comment_place(source, block, part)
            if own and not (place[0] <= block.start and _is_justified(source, block)):
                comments[place] += own
    for line, width in shifts.items():
        space = len(source.indentation(line))
        patches.append(Patch(line, line, " " * width) if width > 0 else Patch(line, line + min(space, -width), ""))
    patches += (Patch(line, line, f"{space}{_comment(own)}\n") for (line, space), own in comments.items())
    return RewrittenText(apply_patches(source.text, patches), len(comments), tuple(narrowed))


def _narrowed(
    source: RustText, block: UnsafeBlock, parts: Sequence[UnsafePart], shifts: dict[int, int]
) -> Iterator[Patch]:
    outer = removal(source, block)
    yield from outer.patches
    for line in source.lines_within(outer.start, outer.end):
        shifts[line] -= outer.shift
    for part in parts:
        space = source.indentation(part.start)[outer.shift :]
        if part.is_run and source.line_of(part.start) != source.line_of(part.end - 1):
            yield Patch(part.start, part.start, f"unsafe {{\n{space}{' ' * UNIT}")
            yield Patch(part.end, part.end, f"\n{space}}}")
            for line in source.lines_within(part.start, part.end):
                shifts[line] += UNIT
        else:
            yield Patch(part.start, part.start, "unsafe { ")
            yield Patch(part.end, part.end, " }")


def _is_justified(source: RustText, block: UnsafeBlock) -> bool:
    """Return whether a block has a SAFETY comment: above, on its line, or as its first line."""
    if safety_comment(source, block) is not None:
        return True
    lines = source.text[source.line_starts[source.line_of(block.start)] :].split("\n", 2)
    return SAFETY in lines[0].upper() or (len(lines) > 1 and bool(re.match(rf"\s*//.*{SAFETY}", lines[1].upper())))


def _comment_place(source: RustText, block: UnsafeBlock, part: UnsafePart) -> tuple[int, str]:
    """Return the offset of the line before which the comment of a part is inserted, and its indentation."""
    outer = removal(source, block)
    place = block.start if source.line_starts[source.line_of(part.start)] <= outer.start else part.start
    line = source.line_starts[source.line_of(place)]
    space = source.indentation(place)
    return line, space if line <= block.start else space[outer.shift :]


def _comment(messages: Sequence[str]) -> str:
    found = list(dict.fromkeys(chain.from_iterable(map(_premises, messages))))
    names = [name for name, text in found if name]
    texts = [text for name, text in found if not name]
    if names:
        shown = [f"`{name}`" for name in names[:NAMES_MAX]] + ["others"] * (len(names) > NAMES_MAX)
        texts.append(PREMISES[1][1].format(", ".join(shown)))
    return f"// {SAFETY}: assumed, not proven: {'; '.join(texts)}"


def _premises(message: str) -> Iterator[tuple[str, str]]:
    """Yield the name of an unsafe function, or the text of a premise."""
    for pattern, text in PREMISES:
        if match := pattern.search(message):
            yield (match[1], "") if match.groups() else ("", text)
            return
    yield "", " ".join(message.partition(" is unsafe")[0].split())[:80]


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
        not discarded and VALUE_LEAD.search(before[-8:]) and after[:1] in VALUE_END and _is_expression(source, block)
    )
    if start >= end or ends_in_comment or not (is_body or is_value):
        return keyword
    shift = 0
    if source.line_of(start) > source.line_of(block.start):
        shift = max(0, len(source.indentation(start)) - len(source.indentation(block.start)))
    return Removal((Patch(block.start, start, ""), Patch(end, block.end, "")), start, end, shift)


def _is_expression(source: RustText, block: UnsafeBlock) -> bool:
    """Return whether the inside of a block is one expression: neither a statement nor an item."""
    syntax = source.block_syntax(block)
    inside = syntax.named_children if syntax else []
    if (
        len(inside) != 1
        or item_kind(inside[0])
        or inside[0].type in (*ATTRIBUTES, "let_declaration", "empty_statement")
    ):
        return False
    return inside[0].type != "expression_statement" or source.code[inside[0].end_byte - 1] != ";"


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
