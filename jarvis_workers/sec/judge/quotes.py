"""Check whether a quote is in the file at the stated line, within three lines and ignoring white space.

Files are named as in slices (`a.c#f`, with lines counted from the first of f) or by path. A quote may include the line
numbers and marks of the view. It consists of whole lines (except for braces), or is long enough to be unique, and
contains more than keywords. Evidence of a risk may be quoted from any view, evidence for a dismissal only from the
deciding view.
"""

import re
from collections.abc import Iterator, Set
from itertools import accumulate

from jarvis_workers.agent.nonces import LINE_MARKS
from jarvis_workers.agent.untrusted_text import escape
from jarvis_workers.sec.judge.slices import VIEWS, CodeIndex, Slice, SourceFile, View, split_name
from jarvis_workers.sec.judge.verdict import QUOTE_MAX, Evidence, Quote, short
from jarvis_workers.sec.scanner import language_of
from jarvis_workers.tools.reading import blank_comments

REACH = 3
LETTERS_MIN, LETTERS_OF_A_PART = 3, 8
LINES_MAX = 12
QUOTED_TEXT_MAX = 4_000
NUMBERED = re.compile(rf"^[ \t]*[{re.escape(LINE_MARKS)}]?[ \t]*(?:\d{{1,9}}\|[ \t]?)?", re.MULTILINE)
BLANKS = re.compile(r"\s+")
WORD = re.compile(r"\w+")
# Words that identify no place, since they occur everywhere.
WORDS_OF_C = """
alignas alignof auto bool break case char class const constexpr continue decltype default define do double
elif else endif enum explicit extern false float for goto if ifdef ifndef include inline int long mutable
namespace noexcept nullptr operator override private protected public register restrict return short signed
sizeof static std struct switch template true typedef typename undef union unsigned using virtual void volatile
while NULL size_t ssize_t int8_t int16_t int32_t int64_t intptr_t uint8_t uint16_t uint32_t uint64_t uintptr_t
"""
WORDS_OF_RUST = """
as async await bool break char const continue crate dyn else enum extern false fn for if impl in let loop match
mod move mut pub ref return self Self static str struct super trait true type unsafe use where while None Ok
Some Err Option Result String Vec i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64
"""
KEYWORDS = {"c/cpp": frozenset(WORDS_OF_C.split()), "rust": frozenset(WORDS_OF_RUST.split())}
PATH = "A-Za-z0-9_./+~@-"
PLACED_LINE = re.compile(
    rf"(?<![{PATH}])(?P<name>[{PATH}]{{1,400}}#(?:before:)?[^\s:`'\"]{{1,200}}):(?P<line>[0-9]{{1,7}})(?![0-9])"
)


def find_quote(index: CodeIndex, about: Slice, quote: Quote, *, dismisses: bool = False) -> Evidence | None:
    """Return the evidence that matches a quote, or None; quotes for a dismissal are checked more strictly."""
    if len(quote.quote) > QUOTED_TEXT_MAX:
        return None
    shown = NUMBERED.sub("", quote.quote.strip("\n"))
    for file, line in _candidate_lines(index, about, quote):
        if dismisses and not _is_source(file):
            continue
        text = _without_comments(shown, file) if dismisses else shown
        for view in VIEWS[:1] if dismisses else VIEWS:
            if at := _line_of(file, view, line, text):
                return Evidence(file.path, at, short(text, QUOTE_MAX))
    return None


def called_lines(text: str, index: CodeIndex) -> str:
    """Convert line references within functions to lines of files: `a.c#f:3` becomes `a.c:40`."""

    def line_of_file(match: re.Match[str]) -> str:
        path, name = split_name(match["name"])
        file = index.file(path)
        place = file.named(name) if file else None
        return f"{path}:{place.first + int(match['line']) - 1}" if file and place else match[0]

    return PLACED_LINE.sub(line_of_file, text)


def _candidate_lines(index: CodeIndex, about: Slice, quote: Quote) -> Iterator[tuple[SourceFile, int]]:
    """Yield the files and lines that a quote may refer to: by function name, by path, or relative to a view."""
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


def _is_source(file: SourceFile) -> bool:
    return language_of(file.path.encode("utf-8", "backslashreplace")) is not None


def _without_comments(text: str, file: SourceFile) -> str:
    return blank_comments(text.encode("utf-8", "replace"), file.language).decode("utf-8", "replace").rstrip()


def _line_of(file: SourceFile, view: View, line: int, text: str) -> int | None:
    """Return the line nearest to `line` at which a quote begins, ignoring white space."""
    lines, needle = file.bare(view), BLANKS.sub("", escape(text))
    height = min(text.strip().count("\n") + 2, LINES_MAX)
    for at in sorted(range(max(1, line - REACH), min(len(lines), line + REACH) + 1), key=lambda one: abs(one - line)):
        block = lines[at - 1 : at - 1 + height]
        joined = "".join(block)
        place = joined.find(needle)
        if 0 <= place < len(block[0]):
            end = place + len(needle)
            line_end = next(one for one in accumulate(map(len, block)) if one >= end)
            is_whole = not any(map(str.isalnum, joined[:place] + joined[end:line_end]))
            written = " ".join(file.lines(view)[at - 1 : at - 1 + height])
            if _says_enough(text, written, KEYWORDS[file.language], is_whole=is_whole):
                return at
    return None


def _says_enough(text: str, written: str, keywords: Set[str], *, is_whole: bool) -> bool:
    """Return whether a quote is specific enough; only words that also occur as whole words in the file count."""
    words = {*WORD.findall(text)} & {*WORD.findall(written)} - keywords
    least = LETTERS_MIN if is_whole else LETTERS_OF_A_PART
    telling = words if is_whole else [word for word in words if not word.isdigit()]
    return bool(telling) and sum(letter.isalnum() for letter in text) >= least
