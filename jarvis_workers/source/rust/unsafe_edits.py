"""Rewrite the needed unsafe blocks of a Rust file: reduce them to the parts that need them, with SAFETY comments.

A comment lists what rustc says must hold; nobody has proven it, and the comment says so.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from jarvis_workers.source.rust.unsafe_blocks import (
    SAFETY,
    Patch,
    RustText,
    UnsafeBlock,
    apply_patches,
    removal,
    safety_comment,
)
from jarvis_workers.source.rust.unsafe_narrowing import UnsafePart, narrowed_parts

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
