"""Names for the lines of a file that are relative to functions: `f:3` is the third line of f.

Lines between two functions are called `before:g`, those after the last one `end`. An edit above a function therefore
does not change references to its lines. A second function of the same name is called `f(2)`.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Literal, NamedTuple

from jarvis_workers.agents.loop.untrusted_text import Guard, Suspicion, escape
from jarvis_workers.sec.judge.slices.conditions import Conditions
from jarvis_workers.sec.judge.slices.views import deciding_view, view_with_comments
from jarvis_workers.sec.scanner import source_text
from jarvis_workers.source.calls import opening
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

    def lines(self, view: View) -> Sequence[str]:
        """Return the lines of a view."""
        result: Sequence[str] = getattr(self, view)
        return result

    def bare(self, view: View) -> list[str]:
        """Return the lines of a view for comparison, without white space and with invisible characters escaped."""
        if view not in self._bare:
            self._bare[view] = ["".join(line.split()) for line in escape("\n".join(self.lines(view))).split("\n")]
        return self._bare[view]

    @cached_property
    def decided(self) -> Sequence[str]:
        """Lines of the deciding view."""
        return _lines(deciding_view(self.content, self.language))

    @cached_property
    def commented(self) -> Sequence[str]:
        """Lines of the deciding view with comments."""
        return _lines(view_with_comments(self.content, self.language))

    @cached_property
    def raw(self) -> Sequence[str]:
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


# What a name is where it stands: the definition of a type, macro or global variable, a call, or an address taken.

MENTIONS_LOOKED_AT = 64
MACRO_LINES = 500
BODY_MAX = 8_192
MACRO = re.compile(rb"[ \t]*#[ \t]*define[ \t]+\Z")
MACRO_LINE = re.compile(rb"[ \t]*#[ \t]*define\b")
KIND = re.compile(rb"\b(?:struct|union|enum|class|trait)\s+\Z")
CONSTANT = re.compile(rb"\b(?:const|static)\s+(?:mut\s+)?\Z")
# What stands before the body of a type, and before the name of a global variable on its line.
TYPE_HEAD = re.compile(rb"\b(?:struct|union|enum|class)\b[^;{}()=]{0,200}\Z")
GLOBAL_HEAD = re.compile(rb"(?!typedef|return|using|goto)[A-Za-z_][\w \t*]*[ \t*]")
GLOBAL_TAIL = re.compile(rb"[ \t]*+(?:\[[^]\n]*\][ \t]*+){0,4}(?:;|=[^=])")
BODY = re.compile(rb"[^;(){}=]{0,100}\{")
WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
# A name that may be that of a function whose address is taken: an argument, an initializer or an assigned value.
GIVEN = re.compile(rb"[=,({&?:][ \t\n]*+&?([A-Za-z_]\w*+)[ \t\n]*+(?=[,;)}:])")


def mentions_of(text: bytes, name: bytes, most: int = MENTIONS_LOOKED_AT) -> Iterator[int]:
    """Yield at most `most` offsets of a name."""
    at = text.find(name)
    while at >= 0 and most > 0:
        end = at + len(name)
        if (at == 0 or text[at - 1] not in WORD) and (end == len(text) or text[end] not in WORD):
            most -= 1
            yield at
        at = text.find(name, end)


def use_at(file: SourceFile, start: int, end: int) -> str | None:
    """Return whether a function is called where its name stands, or its address is taken; None if neither."""
    text = file.masked
    if opening(text, end) is None:
        is_given = GIVEN.match(text, _before(text, start)) is not None
        return "address" if is_given or _in_macro(text, start) else None
    place = file.at(file.line_of(start))
    inside = place.function and place.function.body[0] <= start <= place.function.body[1]
    return "call" if inside or _in_macro(text, start) else None


def _before(text: bytes, at: int) -> int:
    """Return the offset of the character before a name, without blanks and `&`."""
    before = text[max(0, at - 200) : at].rstrip(b" \t\n")
    before = before[:-1].rstrip(b" \t\n") if before.endswith(b"&") and not before.endswith(b"&&") else before
    return max(0, at - 200) + len(before) - 1 if before else at


def _in_macro(text: bytes, at: int) -> bool:
    """Return whether an offset is in the replacement text of a macro."""
    line = text.rfind(b"\n", 0, at) + 1
    for _ in range(MACRO_LINES):
        if line < 2 or not text[max(0, line - 3) : line - 1].endswith((b"\\", b"\\\r")):
            break
        line = text.rfind(b"\n", 0, line - 1) + 1
    return MACRO_LINE.match(text, line, at) is not None and not MACRO.match(text, line, at)


def defined_at(file: SourceFile, start: int, end: int) -> tuple[int, int] | None:
    """Return the first and last byte of the definition of the name at `start`, or None if it is not defined there."""
    text = file.masked
    line = text.rfind(b"\n", 0, start) + 1
    if MACRO.match(text, line, start):
        return line, _end_of_macro(text, end)
    before, behind = text[max(0, start - 60) : start], text[end : end + 60].lstrip()
    if KIND.search(before) and (opened := BODY.match(text, end)):
        return line, _closing(text, opened.end())
    if before.rstrip().endswith(b"}") and behind.startswith((b";", b"[", b",")):
        return _type_before(text, start, end)
    return _declared_at(file, line, start, end)


def _type_before(text: bytes, start: int, end: int) -> tuple[int, int] | None:
    """Return the type whose closing brace stands before a name: `typedef struct { … } name;`."""
    opened_at = _opening(text, text.rfind(b"}", 0, start))
    head = TYPE_HEAD.search(text, max(0, opened_at - 300), opened_at)
    return (text.rfind(b"\n", 0, head.start()) + 1, end) if head else None


def _declared_at(file: SourceFile, line: int, start: int, end: int) -> tuple[int, int] | None:
    """Return the typedef, the global variable or the constant of Rust whose name this is."""
    text = file.masked
    behind = text[end : end + 60].lstrip()
    statement = max(text.rfind(mark, max(0, start - 300), start) for mark in (b";", b"{", b"}", b"\n#")) + 1
    if text[statement:start].lstrip().startswith(b"typedef") and behind.startswith((b";", b"[")):
        return start - len(text[statement:start].lstrip()), end
    if CONSTANT.search(text, line, start) and behind.startswith(b":"):
        return line, max(end, text.find(b";", end, end + BODY_MAX))
    if not GLOBAL_HEAD.fullmatch(text, line, start) or not GLOBAL_TAIL.match(text, end):
        return None
    return None if file.at(file.line_of(start)).function else (line, end)


def _end_of_macro(text: bytes, at: int) -> int:
    end = text.find(b"\n", at)
    while end > 0 and text[at:end].rstrip(b"\r").endswith(b"\\") and end - at < BODY_MAX:
        end = text.find(b"\n", end + 1)
    return end - 1 if end > 0 else len(text) - 1


def _closing(text: bytes, at: int) -> int:
    """Return the end of the block opened before `at`, within BODY_MAX."""
    depth = 1
    for place in range(at, min(len(text), at + BODY_MAX)):
        depth += {123: 1, 125: -1}.get(text[place], 0)
        if depth == 0:
            return place
    return min(len(text), at + BODY_MAX) - 1


def _opening(text: bytes, at: int) -> int:
    """Return the start of the block that ends at `at`, within BODY_MAX."""
    depth = 0
    for place in range(at, max(-1, at - BODY_MAX), -1):
        depth += {125: 1, 123: -1}.get(text[place], 0)
        if depth == 0:
            return place
    return max(0, at - BODY_MAX)
