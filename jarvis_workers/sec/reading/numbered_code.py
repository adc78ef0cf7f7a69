"""The text of files as readers see it: the deciding view with the line numbers of the file.

Blank lines are left out, and so are all but the first lines of a long table of numbers. Every other line counts as read
unless it is too long to be shown whole.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jarvis_workers.platforms.tokens import estimate
from jarvis_workers.sec.judge.slices.places import SourceFile
from jarvis_workers.tools.reading import LONGEST_LINE, PADDING, short_line

# A line of a table: numbers and what separates them.
NUMBERS = re.compile(
    r"(?=.*\d)(?:[\s{}\[\](),;|&+-]|0[xX][0-9a-fA-F]+[uUlL]*|\d[\d.]*(?:[eE][+-]?\d+)?[fFuUlL]*|'\\?[^']')*"
)
TABLE_MIN, TABLE_SHOWN = 16, 4
# The mark of untrusted text and the newline of a line.
LINE_TOKENS = 2


class ShownLine(NamedTuple):
    """A line with its number, or a remark in place of the lines from `number` on; `is_cut` if it is too long."""

    number: int
    text: str
    is_cut: bool = False

    @property
    def tokens(self) -> int:
        return estimate(self.text) + LINE_TOKENS


def shown_lines(file: SourceFile, first: int, last: int) -> Iterator[ShownLine]:
    """Yield the lines of a range of a file that are shown."""
    lines, line = file.decided, first
    last = min(last, len(lines))
    while line <= last:
        end = _table_end(lines, line, last)
        if end - line < TABLE_MIN:
            yield from _numbered(lines, line, max(end, line + 1))
        else:
            yield from _numbered(lines, line, line + TABLE_SHOWN)
            omitted = end - line - TABLE_SHOWN
            yield ShownLine(line + TABLE_SHOWN, f"[{omitted} lines of numbers omitted]")
        line = max(end, line + 1)


def _numbered(lines: Sequence[str], first: int, end: int) -> Iterator[ShownLine]:
    for number in range(first, end):
        whole = PADDING.sub("", lines[number - 1]).rstrip()
        if whole:
            yield ShownLine(number, f"{number}| {short_line(whole)}", len(whole) > LONGEST_LINE)


def _table_end(lines: Sequence[str], line: int, last: int) -> int:
    """Return the line behind the lines of numbers that begin at a line."""
    while line <= last and NUMBERS.fullmatch(lines[line - 1][: LONGEST_LINE + 1]):
        line += 1
    return line


def code_text(file: SourceFile, first: int, last: int) -> str:
    """Return a range of a file as a reader sees it, below a line with the path."""
    count = len(file.decided)
    title = f"{file.path}: {count} lines"
    if (first, last) != (1, count):
        title = f"{file.path}: lines {first}-{last} of {count}"
    return "\n".join([title, *(line.text for line in shown_lines(file, first, last))])
