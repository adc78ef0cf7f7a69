"""Select the preprocessor branches to read; of most macros it is unknown whether they are defined.

Of `#if ... #else ... #endif` the first branch is kept, unless it is for Windows, DOS or OS/2, for C++ in a C file,
disabled (`#if 0`), or read only if a macro is not defined that is: then the next one is.  A function that lies entirely
in an excluded branch is still read.
"""

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import NamedTuple

from jarvis_workers.source.c_tokens import SPLICE
from jarvis_workers.source.lex import LOGICAL_LINE, is_spliced

DIRECTIVE = re.compile(rb"#(?>[ \t]|" + SPLICE + rb")*+(\w++)(" + LOGICAL_LINE + rb")")
OTHERS = frozenset((b"else", b"elif", b"elifdef", b"elifndef"))
WINDOWS = rb"(?:_?_?WIN(?:32|64|16|RT|DOWS|CE)(?:__|_)?|_MSC_VER|__MINGW(?:32|64)__|__BORLANDC__|OPENSSL_SYS_WINDOWS)"
OLD = rb"(?:_*MS_?DOS\w*|_*DJGPP_*|_*OS_?2_*|_*EMX_*)"
FOREIGN = re.compile(rb"(?:defined\(?)?(?:" + WINDOWS + rb"|" + OLD + rb")\)?(?:[<>=]=?\w+)?")
CPP = re.compile(rb"(?:defined\(?)?__cplusplus\)?(?:[<>=]=?\w+)?")
UNDEFINED = re.compile(rb"!defined\(?(\w+)\)?")
NEVER = re.compile(rb"0[uUlL]*|false")
CONDITION_MAX = 400


class Directive(NamedTuple):
    """A preprocessor directive with its continuation lines."""

    start: int
    end: int
    word: bytes
    rest: bytes


class Branches:
    """The directives of a file, and the excluded branches."""

    def __init__(self, directives: list[Directive], dead: list[tuple[int, int]]) -> None:
        self.directives = directives
        self._starts = [directive.start for directive in directives]
        self._dead = sorted(dead)
        self._dead_starts = [start for start, _ in self._dead]
        # Of a branch and all before it, which may be around it, the last end.
        self._dead_ends = list(accumulate((end for _, end in self._dead), max))

    def is_directive(self, offset: int) -> bool:
        place = bisect_right(self._starts, offset) - 1
        return place >= 0 and offset < self.directives[place].end

    def is_excluded(self, offset: int) -> bool:
        """Return whether an offset is in an excluded branch."""
        place = bisect_right(self._dead_starts, offset) - 1
        return place >= 0 and offset < self._dead_ends[place]

    def live(self) -> list[Directive]:
        """Return the directives outside of excluded branches."""
        spans, end = [], -1
        dead = iter([*self._dead, (1 << 62, 1 << 62)])
        start, stop = next(dead)
        for directive in self.directives:
            while directive.start >= start:
                end = max(end, stop)
                start, stop = next(dead)
            if directive.start >= end:
                spans.append(directive)
        return spans

    def blank(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the spans of a range that are not code: directives, and the excluded branches that begin in it."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        spans = [(directive.start, directive.end) for directive in self.directives[first:last]]
        first, last = bisect_left(self._dead_starts, start), bisect_left(self._dead_starts, end)
        return _joined(sorted(spans + self._dead[first:last]), end)


def _joined(spans: list[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    reached = -1
    for start, stop in spans:
        if stop > reached:
            joined.append((max(start, reached), min(stop, limit)))
            reached = stop
    return joined


def branches(text: bytes, *, cpp: bool, defined: frozenset[bytes] = frozenset()) -> Branches:
    """Read the directives of masked text; `defined` are macros from the command line of the compiler."""
    directives: list[Directive] = []
    dead: list[tuple[int, int]] = []
    # For each open `#if`: whether a branch of it was kept, and the start of the excluded branch, or -1.
    opened: list[tuple[bool, int]] = []
    for match in DIRECTIVE.finditer(text):
        start = match.start()
        newline = text.rfind(b"\n", 0, start)
        if text[newline + 1 : start].strip() or is_spliced(text, newline):
            continue
        directive = Directive(start, match.end(), match[1], match[2])
        directives.append(directive)
        if directive.word[:2] == b"if":
            keeps = _is_selected(directive, defined, cpp=cpp)
            opened.append((keeps, -1 if keeps else directive.end))
        elif directive.word in OTHERS and opened:
            is_selected = _is_selected(directive, defined, cpp=cpp)
            opened[-1] = _next_branch(directive, opened[-1], dead, is_selected=is_selected)
        elif directive.word == b"endif" and opened:
            _, since = opened.pop()
            if since >= 0:
                dead.append((since, start))
    return Branches(directives, dead)


def _next_branch(
    directive: Directive, before: tuple[bool, int], dead: list[tuple[int, int]], *, is_selected: bool
) -> tuple[bool, int]:
    branch, since = before
    if since >= 0:
        dead.append((since, directive.start))
    keeps = not branch and is_selected
    return branch or keeps, -1 if keeps else directive.end


def _is_selected(directive: Directive, defined: frozenset[bytes], *, cpp: bool) -> bool:
    word = directive.word
    if word == b"else":
        return True
    condition = b"".join(directive.rest[:CONDITION_MAX].replace(b"\\", b"").split())
    if word.endswith(b"ndef"):
        return condition not in defined and not (cpp and condition == b"__cplusplus")
    if defined and (negated := UNDEFINED.fullmatch(_bare(condition))) and negated[1] in defined:
        return False
    return not any(_is_foreign(part, cpp=cpp) for part in _bare(condition).split(b"&&"))


def _bare(condition: bytes) -> bytes:
    while condition[:1] == b"(" and condition[-1:] == b")" and condition.count(b"(") == 1:
        condition = condition[1:-1]
    return condition


def _is_foreign(condition: bytes, *, cpp: bool) -> bool:
    """Return whether no alternative of a condition can hold on the assumed platform and language."""
    return all(
        FOREIGN.fullmatch(part) or NEVER.fullmatch(part) or (not cpp and CPP.fullmatch(part)) or _no_c(part, cpp=cpp)
        for part in (_bare(alternative) for alternative in condition.split(b"||"))
    )


def _no_c(condition: bytes, *, cpp: bool) -> bool:
    return cpp and condition[:1] == b"!" and CPP.fullmatch(condition[1:]) is not None
