"""Edit text files: replace text that must occur exactly once, in several files, all or none.

All edits of a file refer to the content that their author read, not to each other's results, so that their order does
not matter; edits that overlap are refused. A file whose hash is no longer that of the content that was read is stale,
and is not edited.
"""

import difflib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

Cause = Literal["outside", "no file", "not UTF-8", "stale", "empty", "not found", "several matches", "range", "overlap"]
LINE_END, WINDOWS_LINE_END = "\n", "\r\n"


class TextEdit(NamedTuple):
    """Replace the text `search`; with `until`, everything from `search` through the next `until`.

    Both must occur once: `search` in the file, `until` after it. In a file whose lines all end with CRLF, the texts may
    have plain newlines.
    """

    path: str
    search: str
    replacement: str
    until: str = ""


class EditProblem(NamedTuple):
    """Why an edit, numbered from 0, is refused; `matches` is the number of places for several matches."""

    edit: int
    path: str
    cause: Cause
    matches: int = 0

    def __str__(self) -> str:
        why = {
            "outside": "the path leaves the tree",
            "no file": "there is no such file",
            "not UTF-8": "the file is not UTF-8 text",
            "stale": "the file has changed since it was read; read it again",
            "empty": "the text to replace is empty",
            "not found": "the text to replace is not in the file; copy it exactly, with its white space",
            "several matches": f"the text to replace occurs {self.matches} times; add lines around it",
            "range": f"the end of the range occurs {self.matches} times after its start, instead of once",
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
        text = files[path].decode()
        found = [_place(text, number, edit) for number, edit in own]
        spans = sorted(one for one in found if isinstance(one, _Span))
        problems += (one for one in found if isinstance(one, EditProblem))
        problems += (EditProblem(edit, path, "overlap") for edit in _overlapping(spans))
        changed[path] = _replaced(text, spans).encode()
    if problems:
        return EditResult({}, tuple(sorted(problems)))
    return EditResult({path: content for path, content in changed.items() if content != files[path]})


def diff_summary(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """Return a line per changed file, in order: its path, and the numbers of added and removed lines."""
    return "".join(f"{path}: {_counts(before.get(path, b''), after[path])}\n" for path in sorted(after))


def _counts(before: bytes, after: bytes) -> str:
    old, new = (list(map(repr, content.splitlines(keepends=True))) for content in (before, after))
    marks = [line[0] for line in islice(difflib.unified_diff(old, new, n=0), 2, None)]
    return f"+{marks.count('+')} -{marks.count('-')}"


def is_inside(path: str) -> bool:
    """Return whether a path is relative and stays in its tree, without looking at the file system."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts and "\0" not in path and "\\" not in path


def _unusable(path: str, files: Mapping[str, bytes], hashes: Mapping[str, str]) -> Cause | None:
    if not is_inside(path):
        return "outside"
    if path not in files:
        return "no file"
    if path in hashes and content_hash(files[path]) != hashes[path]:
        return "stale"
    try:
        files[path].decode()
    except UnicodeDecodeError:
        return "not UTF-8"
    return None


def _place(text: str, number: int, edit: TextEdit) -> _Span | EditProblem:
    """Return the span that an edit replaces, or why there is none."""
    search, until, replacement = (_with_line_ends(one, text) for one in (edit.search, edit.until, edit.replacement))
    if not search:
        return EditProblem(number, edit.path, "empty")
    starts = list(_occurrences(text, search, 0))
    if len(starts) != 1:
        return EditProblem(number, edit.path, "several matches" if starts else "not found", len(starts))
    end = starts[0] + len(search)
    if until:
        ends = list(_occurrences(text, until, end))
        if len(ends) != 1:
            return EditProblem(number, edit.path, "range", len(ends))
        end = ends[0] + len(until)
    return _Span(starts[0], end, replacement, number)


def _with_line_ends(part: str, text: str) -> str:
    """Return a part of an edit with the line ends of the file, if all its lines end with CRLF."""
    is_windows = WINDOWS_LINE_END in text and text.count(WINDOWS_LINE_END) == text.count(LINE_END)
    if not is_windows or WINDOWS_LINE_END in part:
        return part
    return part.replace(LINE_END, WINDOWS_LINE_END)


def _occurrences(text: str, part: str, start: int) -> Iterator[int]:
    """Yield the offsets of a part, including occurrences that overlap."""
    while (start := text.find(part, start)) >= 0:
        yield start
        start += 1


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
