"""Names for the lines of a file that are relative to functions: `f:3` is the third line of f.

Lines between two functions are called `before:g`, those after the last one `end`. An edit above a function therefore
does not change references to its lines. A second function of the same name is called `f(2)`.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from operator import attrgetter
from typing import Literal, NamedTuple

from jarvis_workers.agents.loop.untrusted_text import Guard, Suspicion, escape
from jarvis_workers.sec.judge.slices.conditions import Conditions
from jarvis_workers.sec.judge.slices.views import deciding_view, view_with_comments
from jarvis_workers.sec.scanner import source_text
from jarvis_workers.source.functions import Function, functions
from jarvis_workers.source.languages import language_of
from jarvis_workers.source.lex import mask

# The deciding view, the same with comments, and the original file.
View = Literal["decided", "commented", "raw"]
VIEWS: tuple[View, ...] = ("decided", "commented", "raw")

HEAD_LINES = 3
HIDES_LINES = re.compile(rb"//[^\r\n]*\r(?!\n)")
# Files with other suffixes were packed because the project configures them as code.
OTHERWISE = "c/cpp"
END = "end"


class CodeRange(NamedTuple):
    """A named range of lines of a file; `function` is None between functions."""

    name: str
    first: int
    last: int
    function: Function | None = None


class SourceFile:
    """A source file with any suffix, and cached facts about it."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.language = language_of(path.encode("utf-8", "backslashreplace")) or OTHERWISE
        self.content = source_text(content, self.language)
        # To a compiler, a line comment ends at a lone carriage return; to many editors, the comment goes on.
        self.hides_lines = HIDES_LINES.search(content) is not None
        self._bare: dict[View, list[str]] = {}
        self._suspicions: dict[tuple[int, int], tuple[Suspicion, ...]] = {}

    @cached_property
    def masked(self) -> bytes:
        return mask(self.content, self.language).text

    @cached_property
    def conditions(self) -> Conditions:
        return Conditions(b"" if self.language == "rust" else self.masked)

    def lines(self, view: View) -> list[str]:
        """Return the lines of a view."""
        result: list[str] = getattr(self, view)
        return result

    def bare(self, view: View) -> list[str]:
        """Return the lines of a view for comparison, without white space and with invisible characters escaped."""
        if view not in self._bare:
            self._bare[view] = ["".join(line.split()) for line in escape("\n".join(self.lines(view))).split("\n")]
        return self._bare[view]

    @cached_property
    def decided(self) -> list[str]:
        """Lines of the deciding view."""
        return _lines(deciding_view(self.content, self.language))

    @cached_property
    def commented(self) -> list[str]:
        """Lines of the deciding view with comments."""
        return _lines(view_with_comments(self.content, self.language))

    @cached_property
    def raw(self) -> list[str]:
        return _lines(self.content)

    @cached_property
    def places(self) -> tuple[CodeRange, ...]:
        """Places of the file, in order; they partition its lines."""
        return tuple(_places(self, functions(self.masked, self.language)))

    def at(self, line: int) -> CodeRange:
        """Return the place of a line, or the nearest place if the line does not exist."""
        return self.places[max(0, bisect_right(self.places, line, key=attrgetter("first")) - 1)]

    def suspicions(self, first: int, last: int) -> tuple[Suspicion, ...]:
        """Return the prompt injections in text that the deciding view omits from some lines."""
        if (first, last) not in self._suspicions:
            self._suspicions[first, last] = tuple(_suspicions(self, first, last))
        return self._suspicions[first, last]

    def named(self, name: str) -> CodeRange | None:
        return next((place for place in self.places if place.name == name), None)

    def line_of(self, offset: int) -> int:
        return bisect_right(self._ends, offset - 1) + 1

    def name_of(self, line: int) -> str:
        """Return the name of a line: `FILE#PLACE:LINE`."""
        place = self.at(line)
        return f"{self.path}#{place.name}:{line - place.first + 1}"

    @cached_property
    def _ends(self) -> list[int]:
        return _newlines(self.content)


def _suspicions(source: SourceFile, first: int, last: int) -> Iterator[Suspicion]:
    """Yield the prompt injections in the lines that the deciding view changes and in the adjacent lines."""
    raw, decided = source.raw[first - 1 : last], source.decided[first - 1 : last]
    differs = [one.rstrip() != other.rstrip() for one, other in zip(raw, decided, strict=True)]
    beside = zip(raw, differs, [False, *differs[:-1]], [*differs[1:], False], strict=True)
    written = "\n".join(line for line, *near in beside if any(near))
    guard = Guard("")
    guard.admit(written)
    if '"' in written:
        # an injection may be concatenated from literals
        guard.admit(written.replace('"', " "))
    return (suspicion for suspicion in guard.suspicions if suspicion.level != "warn")


def offsets_of(file: SourceFile, first: int, last: int) -> tuple[int, int]:
    """Return the offsets of the first byte of a range of lines and of the byte behind it."""
    start = file._ends[first - 2] + 1 if first > 1 else 0
    return start, file._ends[last - 1] + 1 if last <= len(file._ends) else len(file.content)


def masked_line(file: SourceFile, line: int) -> bytes:
    """Return a line of the masked text, without its newline."""
    start = 0 if line == 1 else file._ends[line - 2] + 1
    end = file.masked.find(b"\n", start)
    return file.masked[start : end if end >= 0 else len(file.masked)]


def split_name(name: str) -> tuple[str, str]:
    """Return file and place of a name such as `a.c#f`; the place is empty in a plain path."""
    file, mark, place = name.rpartition("#")
    return (file, place) if mark else (name, "")


def _places(source: SourceFile, functions: Iterable[Function]) -> Iterator[CodeRange]:
    seen: Counter[str] = Counter()
    behind, count = 1, len(source.raw)
    for function in functions:
        first = max(behind, _head(source, function))
        # A function that is not closed ends behind the last newline.
        last = min(source.line_of(function.body[1]), count)
        if last < first:
            continue
        name = function.name.decode("utf-8", "backslashreplace").replace("\n", " ")
        seen[name] += 1
        name = name if seen[name] == 1 else f"{name}({seen[name]})"
        if behind < first:
            yield CodeRange(f"before:{name}", behind, first - 1)
        yield CodeRange(name, first, last, function)
        behind = last + 1
    if behind <= count or behind == 1:
        yield CodeRange(END, behind, max(count, behind))


def _head(source: SourceFile, function: Function) -> int:
    """Return the first line of a function, which is above its name if the return type has its own line."""
    line = source.line_of(function.start)
    for _ in range(HEAD_LINES):
        above = masked_line(source, line - 1).strip() if line > 1 else b""
        if not above or above.startswith(b"#") or above.endswith((b";", b"}", b"{", b":", b"\\")):
            break
        line -= 1
    return line


def _newlines(content: bytes) -> list[int]:
    offset, at = [], content.find(b"\n")
    while at >= 0:
        offset.append(at)
        at = content.find(b"\n", at + 1)
    return offset


def _lines(content: bytes) -> list[str]:
    lines = content.decode("utf-8", "backslashreplace").split("\n")
    return lines[:-1] if lines[-1] == "" and len(lines) > 1 else lines
