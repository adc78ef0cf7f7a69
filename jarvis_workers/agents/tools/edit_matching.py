"""Find the place of an edit in a text: exactly, else without trailing white space, else with another indentation.

Only whole lines are compared in the last two ways, and the indentation of all lines must differ in the same way; the
replacement is indented likewise. Nothing else may differ: a place that is only similar is no place.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

WHITE = " \t\r"
LINE_END, WINDOWS_LINE_END = "\n", "\r\n"


class Indentation(NamedTuple):
    """What the lines of a file have in front of those of an edit, or lack; one of both is empty."""

    added: str = ""
    removed: str = ""

    def shift(self, text: str) -> str | None:
        """Return a text with its lines indented likewise, or None if one lacks what is to be removed."""
        lines = text.split(LINE_END)
        if not all(line.startswith(self.removed) for line in lines if line.strip(WHITE)):
            return None
        return LINE_END.join(self.added + line[len(self.removed) :] if line.strip(WHITE) else line for line in lines)


class TextPlace(NamedTuple):
    """A span of offsets in a text; `cut_end` if the text lacks the newline that ends the searched text."""

    start: int
    end: int
    indentation: Indentation = Indentation()
    line_end: str = LINE_END
    cut_end: bool = False

    def fit(self, replacement: str) -> str | None:
        """Return the replacement with the indentation and the line ends of this place, or None if it has no such."""
        shifted = self.indentation.shift(replacement)
        if shifted is None:
            return None
        if self.line_end == WINDOWS_LINE_END and WINDOWS_LINE_END not in shifted:
            shifted = shifted.replace(LINE_END, WINDOWS_LINE_END)
        return shifted.removesuffix(LINE_END).removesuffix("\r") if self.cut_end else shifted


def find_places(text: str, part: str, start: int, end: int) -> list[TextPlace]:
    """Return the places of a part between two offsets of a text, found in the strictest way that finds any."""
    if exact := [TextPlace(at, at + len(part)) for at in _occurrences(text, part, start, end)]:
        return exact
    sought = [line.rstrip(WHITE) for line in part.removesuffix(LINE_END).split(LINE_END)]
    if not any(sought):
        return []
    windows = list(_windows(_lines(text, start, end), sought, ends_line=part.endswith(LINE_END)))
    same = [place for place in windows if place.indentation == Indentation()]
    return same or windows


class _Line(NamedTuple):
    start: int
    content: str
    line_end: str

    @property
    def after(self) -> int:
        return self.start + len(self.content)


def _occurrences(text: str, part: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets of a part, including occurrences that overlap."""
    while (start := text.find(part, start, end)) >= 0:
        yield start
        start += 1


def _lines(text: str, start: int, end: int) -> list[_Line]:
    """Return the whole lines between two offsets."""
    if start and text[start - 1] != LINE_END:
        start = text.find(LINE_END, start, end) + 1 or end
    lines = list[_Line]()
    while start < end:
        stop = text.find(LINE_END, start, end)
        after = end if stop < 0 else stop
        content = text[start:after]
        windows = stop >= 0 and content.endswith("\r")
        line_end = "" if stop < 0 else WINDOWS_LINE_END if windows else LINE_END
        lines.append(_Line(start, content.removesuffix("\r") if windows else content, line_end))
        start = after + 1
    return lines


def _windows(lines: Sequence[_Line], sought: Sequence[str], *, ends_line: bool) -> Iterator[TextPlace]:
    """Yield the runs of lines that differ from the sought ones at most in one indentation and in trailing space."""
    stripped = [line.content.rstrip(WHITE) for line in lines]
    for first in range(len(lines) - len(sought) + 1):
        indentation = _common_indentation(stripped[first : first + len(sought)], sought)
        if indentation is None:
            continue
        begin, last = lines[first], lines[first + len(sought) - 1]
        end = last.after + (len(last.line_end) if ends_line else 0)
        line_end = WINDOWS_LINE_END if begin.line_end == WINDOWS_LINE_END else LINE_END
        yield TextPlace(begin.start, end, indentation, line_end, cut_end=ends_line and not last.line_end)


def _common_indentation(lines: Sequence[str], sought: Sequence[str]) -> Indentation | None:
    """Return the one indentation by which all lines that are not blank differ, or None."""
    common: Indentation | None = None
    for line, other in zip(lines, sought, strict=True):
        if not line or not other:
            if line != other:
                return None
            continue
        one = _indentation(line, other)
        if one is None or (common is not None and one != common):
            return None
        common = one
    return common


def _indentation(line: str, other: str) -> Indentation | None:
    if line.endswith(other) and not line[: -len(other)].strip(WHITE):
        return Indentation(added=line[: -len(other)])
    if other.endswith(line) and not other[: -len(line)].strip(WHITE):
        return Indentation(removed=other[: -len(line)])
    return None
