"""The text of files as readers see it: the deciding view with the line numbers of the file.

Blank lines are left out, and so are all but the first lines of a long table of numbers or list of constants. Every
other line counts as read unless it is too long to be shown whole.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jarvis_workers.agents.tools.reading import LONGEST_LINE, PADDING, short_line
from jarvis_workers.models.platforms.protocol import estimate
from jarvis_workers.sec.judge.slices.places import SourceFile

# A line of a table: numbers and what separates them, a constant and its number, or names in a list.
NUMBER = r"-?(?:0[xX][0-9a-fA-F]+[uUlL]*|\d[\d.]*(?:[eE][+-]?\d+)?[fFuUlL]*)"
NUMBERS = re.compile(rf"(?=.*\d)(?:[\s{{}}\[\](),;|&+-]|{NUMBER}|'\\?[^']')*")
CONSTANT = re.compile(rf"\s*#\s*define\s+\w+\s+\(?{NUMBER}\)?\s*|\s*\w+\s*(?:=\s*{NUMBER}\s*)?,\s*|\s*\w+\(\w+\),\s*")
# The lines that make a table or a list, without blank ones.
TABLE_MIN, LIST_MIN, TABLE_SHOWN = 16, 60, 4
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
        table, end = _run(NUMBERS, lines, line, last), line
        listed = [] if len(table) >= TABLE_MIN else _run(CONSTANT, lines, line, last)
        if len(table) >= TABLE_MIN or len(listed) >= LIST_MIN:
            run = table if len(table) >= TABLE_MIN else listed
            end = run[TABLE_SHOWN]
            yield from _numbered(lines, line, end)
            what = "numbers" if run is table else "constants"
            yield ShownLine(end, f"[{len(run) - TABLE_SHOWN} lines of {what} omitted]")
            line = run[-1] + 1
        else:
            end = max([line, *table, *listed]) + 1
            yield from _numbered(lines, line, end)
            line = end


def _numbered(lines: Sequence[str], first: int, end: int) -> Iterator[ShownLine]:
    for number in range(first, end):
        whole = PADDING.sub("", lines[number - 1]).rstrip()
        if whole:
            yield ShownLine(number, f"{number}| {short_line(whole)}", len(whole) > LONGEST_LINE)


def _run(shape: re.Pattern[str], lines: Sequence[str], line: int, last: int) -> list[int]:
    """Return the lines of a shape from a line on, without the blank ones among them."""
    run = list[int]()
    for number in range(line, last + 1):
        text = lines[number - 1]
        if shape.fullmatch(text[: LONGEST_LINE + 1]):
            run.append(number)
        elif text.strip() or not run:
            break
    return run


def code_text(file: SourceFile, first: int, last: int) -> str:
    """Return a range of a file as a reader sees it, below a line with the path."""
    count = len(file.decided)
    title = f"{file.path}: {count} lines"
    if (first, last) != (1, count):
        title = f"{file.path}: lines {first}-{last} of {count}"
    return "\n".join([title, *(line.text for line in shown_lines(file, first, last))])
