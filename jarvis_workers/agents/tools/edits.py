"""Edit text files: replace text that must occur exactly once, in several files, all or none.

All edits of a file refer to the content that their author read, not to each other's results, so that their order does
not matter; edits that overlap are refused. A file whose hash is no longer that of the content that was read is stale,
and is not edited. Bytes outside of the edits stay as they are, a byte order mark and bytes that are not UTF-8 as well.
"""

import difflib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from jarvis_workers.agents.tools.edit_matching import LINE_END, WINDOWS_LINE_END, TextPlace, find_places

Refusal = Literal["outside", "no file", "binary", "stale"]
Mismatch = Literal["empty", "not text", "not found", "several matches", "range", "lines", "indentation", "overlap"]
Cause = Refusal | Mismatch
BYTE_ORDER_MARK = "\ufeff"
# Products of lines that a diff compares within about a second.
MOST_COMPARED = 25_000_000


class TextEdit(NamedTuple):
    """Replace the text `search`; with `until`, everything from `search` through the next `until`.

    Both must occur once: `search` in the file, `until` after it; with `lines`, the numbers of a first and a last line,
    in these lines. In a file whose lines all end with CRLF, the texts may have plain newlines.
    """

    path: str
    search: str
    replacement: str
    until: str = ""
    lines: tuple[int, int] | None = None


class EditProblem(NamedTuple):
    """Why an edit, numbered from 0, is refused; `matches` is the number of places, or of lines for a wrong range."""

    edit: int
    path: str
    cause: Cause
    matches: int = 0

    def __str__(self) -> str:
        why = {
            "outside": "the path leaves the tree",
            "no file": "there is no such file",
            "binary": "the file is binary",
            "stale": "the file has changed since it was read; read it again",
            "empty": "the text to replace is empty",
            "not text": "a text of the edit is not valid Unicode",
            "not found": "the text to replace is not in the file; copy it exactly, with its white space",
            "several matches": f"the text to replace occurs {self.matches} times; add lines around it",
            "range": f"the end of the range occurs {self.matches} times after its start, instead of once",
            "lines": f"the range of lines is not one of the file, which has {self.matches} lines; correct or omit it",
            "indentation": "the replacement is not indented like the text to replace; copy the indentation of the file",
            "overlap": "it overlaps another edit of the file",
        }
        return f"edit {self.edit + 1}: {self.path}: {why[self.cause]}"


class EditResult(NamedTuple):
    """The new contents of the files that change; none if there are problems."""

    files: Mapping[str, bytes]
    problems: tuple[EditProblem, ...] = ()


class _Span(NamedTuple):
    start: int
    end: int
    text: str
    edit: int


def content_hash(content: bytes) -> str:
    """Return the hash that identifies a content in `apply_edits`."""
    return sha256(content).hexdigest()


def apply_edits(
    files: Mapping[str, bytes], edits: Sequence[TextEdit], hashes: Mapping[str, str] | None = None
) -> EditResult:
    """Return the files with all edits, or all problems and no file.

    `files` are the current contents of files by their paths, relative to the tree; `hashes` those of the contents that
    the author of the edits read, for the files that must not be stale.
    """
    by_file = defaultdict[str, list[tuple[int, TextEdit]]](list)
    for number, edit in enumerate(edits):
        by_file[edit.path].append((number, edit))
    changed, problems = dict[str, bytes](), list[EditProblem]()
    for path, own in by_file.items():
        if cause := _unusable(path, files, hashes or {}):
            problems += (EditProblem(number, path, cause) for number, _ in own)
            continue
        text = decode(files[path])
        found = [_place(text, number, edit) for number, edit in own]
        spans = sorted(one for one in found if isinstance(one, _Span))
        problems += (one for one in found if isinstance(one, EditProblem))
        problems += (EditProblem(edit, path, "overlap") for edit in _overlapping(spans))
        changed[path] = encode(_replaced(text, spans), files[path])
    if problems:
        return EditResult({}, tuple(sorted(problems)))
    return EditResult({path: content for path, content in changed.items() if content != files[path]})


def is_binary(content: bytes) -> bool:
    """Return whether a content is not text: it has a NUL byte, as UTF-16 has."""
    return b"\0" in content


def decode(content: bytes) -> str:
    """Return a content as text without its byte order mark; bytes that are not UTF-8 become lone surrogates."""
    return content.decode("utf-8", "surrogateescape").removeprefix(BYTE_ORDER_MARK)


def encode(text: str, before: bytes) -> bytes:
    """Return a text as the content that replaces another one, with its byte order mark; the inverse of `decode`."""
    mark = BYTE_ORDER_MARK.encode()
    content = text.removeprefix(BYTE_ORDER_MARK).encode("utf-8", "surrogateescape")
    return mark + content if before.startswith(mark) else content


def has_windows_line_ends(text: str) -> bool:
    """Return whether all lines of a text end with CRLF."""
    return WINDOWS_LINE_END in text and text.count(WINDOWS_LINE_END) == text.count(LINE_END)


def is_text(text: str) -> bool:
    """Return whether a text of an edit can be written: lone surrogates cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def diff_summary(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """Return a line per changed file, in order: its path, and the numbers of added and removed lines."""
    counts = {path: line_counts(before.get(path, b""), after[path]) for path in sorted(after)}
    return "".join(f"{path}: +{added} -{removed}\n" for path, (added, removed) in counts.items())


def line_counts(before: bytes, after: bytes) -> tuple[int, int]:
    """Return the numbers of added and removed lines; if very many differ, all of these."""
    old, new = (content.splitlines(keepends=True) for content in (before, after))
    # A diff takes time in proportion to the square of what differs: it gets only what lies between equal ends.
    while old and new and old[-1] == new[-1]:
        old.pop()
        new.pop()
    first = next((at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    skip = min(len(old), len(new)) if first is None else first
    old, new = old[skip:], new[skip:]
    if len(old) * len(new) > MOST_COMPARED:
        return len(new), len(old)
    diff = difflib.unified_diff(list(map(repr, old)), list(map(repr, new)), n=0)
    marks = [line[0] for line in islice(diff, 2, None)]
    return marks.count("+"), marks.count("-")


def is_inside(path: str) -> bool:
    """Return whether a path is relative and stays in its tree, without looking at the file system."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts and "\0" not in path and "\\" not in path


def _unusable(path: str, files: Mapping[str, bytes], hashes: Mapping[str, str]) -> Refusal | None:
    if not is_inside(path):
        return "outside"
    if path not in files:
        return "no file"
    if path in hashes and content_hash(files[path]) != hashes[path]:
        return "stale"
    return "binary" if is_binary(files[path]) else None


def _place(text: str, number: int, edit: TextEdit) -> _Span | EditProblem:
    """Return the span that an edit replaces, or why there is none."""
    search, until, replacement = (_with_line_ends(one, text) for one in (edit.search, edit.until, edit.replacement))
    try:
        if not search:
            raise _Unplaced("empty")
        if not all(map(is_text, (search, until, replacement))):
            raise _Unplaced("not text")
        first, last = _bounds(text, edit.lines)
        start = end = _only("not found", find_places(text, search, first, last))
        if until:
            end = _only("range", find_places(text, until, start.end, last))
        fitted = start._replace(cut_end=end.cut_end).fit(replacement)
        if fitted is None or end.indentation != start.indentation:
            raise _Unplaced("indentation")
    except _Unplaced as problem:
        return EditProblem(number, edit.path, problem.cause, problem.matches)
    return _Span(start.start, end.end, fitted, number)


class _Unplaced(Exception):
    def __init__(self, cause: Mismatch, matches: int = 0) -> None:
        super().__init__(cause)
        self.cause, self.matches = cause, matches


def _only(cause: Mismatch, places: Sequence[TextPlace]) -> TextPlace:
    if len(places) == 1:
        return places[0]
    raise _Unplaced("several matches" if places and cause == "not found" else cause, len(places))


def _bounds(text: str, lines: tuple[int, int] | None) -> tuple[int, int]:
    """Return the offsets of lines, by default of the whole text. Raises _Unplaced if the text has no such lines."""
    if lines is None:
        return 0, len(text)
    first, last = lines
    if not 1 <= first <= last <= _line_count(text):
        raise _Unplaced("lines", _line_count(text))
    parts = text.split(LINE_END, last)
    start = sum(len(part) + 1 for part in parts[: first - 1])
    return start, min(start + sum(len(part) + 1 for part in parts[first - 1 : last]), len(text))


def _line_count(text: str) -> int:
    return text.count(LINE_END) + (not text.endswith(LINE_END))


def _with_line_ends(part: str, text: str) -> str:
    """Return a part of an edit with the line ends of the file, if all its lines end with CRLF."""
    if not has_windows_line_ends(text) or WINDOWS_LINE_END in part:
        return part
    return part.replace(LINE_END, WINDOWS_LINE_END)


def _overlapping(spans: Sequence[_Span]) -> Iterator[int]:
    """Yield the edits whose spans, which are sorted, begin before the end of an earlier one."""
    end = 0
    for span in spans:
        if span.start < end:
            yield span.edit
        end = max(end, span.end)


def _replaced(text: str, spans: Sequence[_Span]) -> str:
    pieces, last = list[str](), 0
    for span in spans:
        pieces += text[last : span.start], span.text
        last = span.end
    return "".join((*pieces, text[last:]))
