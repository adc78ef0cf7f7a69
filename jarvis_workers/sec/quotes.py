"""Whether a quote stands in a file where it is said to stand: within three lines, whatever its blanks.

Files are named as in slices (`a.c#f`, the lines counted from the first of f) or by their path. A quote may be of either
view, and may carry the numbers and marks that lines were shown with.
"""

import re
from collections.abc import Iterator, Sequence

from jarvis_workers.agent.guard import escape
from jarvis_workers.sec.opinions import QUOTE_MAX, Evidence, Quote, short
from jarvis_workers.sec.slices import VIEWS, CodeIndex, Slice, SourceFile, split_name

__all__ = ["called_lines", "find_quote"]

REACH = 3
LETTERS_MIN = 3
LINES_MAX = 12
SAID_MAX = 4_000
NUMBERED = re.compile(r"^[ \t]*(?:[0-9a-f]{8}\|)?[ \t]*(?:\d{1,9}\|[ \t]?)?", re.MULTILINE)
BLANKS = re.compile(r"\s+")
PATH = "A-Za-z0-9_./+~@-"
PLACED_LINE = re.compile(
    rf"(?<![{PATH}])(?P<name>[{PATH}]{{1,400}}#(?:before:)?[^\s:`'\"]{{1,200}}):(?P<line>[0-9]{{1,7}})(?![0-9])"
)


def find_quote(index: CodeIndex, about: Slice, quote: Quote) -> Evidence | None:
    """Return where the quote stands, by the lines of the file."""
    if len(quote.quote) > SAID_MAX:
        return None
    said = BLANKS.sub("", NUMBERED.sub("", escape(quote.quote.strip("\n"))))
    if sum(letter.isalnum() for letter in said) < LETTERS_MIN:
        return None
    height = min(quote.quote.strip().count("\n") + 2, LINES_MAX)
    for file, line in _meant(index, about, quote):
        for view in VIEWS:
            if at := _found(file.bare(view), line, said, height):
                return Evidence(file.path, at, short(NUMBERED.sub("", quote.quote.strip("\n")), QUOTE_MAX))
    return None


def called_lines(text: str, index: CodeIndex) -> str:
    """Return a text with the lines of files in place of those of functions: `a.c#f:3` becomes `a.c:40`."""

    def line_of_file(found: re.Match[str]) -> str:
        path, name = split_name(found["name"])
        file = index.file(path)
        place = file.named(name) if file else None
        return f"{path}:{place.first + int(found['line']) - 1}" if file and place else found[0]

    return PLACED_LINE.sub(line_of_file, text)


def _meant(index: CodeIndex, about: Slice, quote: Quote) -> Iterator[tuple[SourceFile, int]]:
    """Yield the lines that may be meant: by the name of a place, of the file, of a part that was shown of it."""
    path, name = split_name(quote.file.strip().removeprefix("./"))
    file = index.file(path)
    place = file.named(name) if file and name else None
    if file and place:
        yield file, place.first + quote.line - 1
        return
    file = index.file(quote.file.strip())
    if file is None:
        return
    yield file, quote.line
    for part in about.parts:
        if part.file.path == file.path:
            yield file, part.place.first + quote.line - 1


def _found(lines: Sequence[str], line: int, said: str, height: int) -> int | None:
    """Return the line nearest to one on which a quote begins; both without blanks."""
    for at in sorted(range(max(1, line - REACH), min(len(lines), line + REACH) + 1), key=lambda one: abs(one - line)):
        place = "".join(lines[at - 1 : at - 1 + height]).find(said)
        if 0 <= place < len(lines[at - 1]):
            return at
    return None
