"""Decide whether globs leave a path out, with git's meaning.

Within one directory the last line that matches decides, `!` takes a path back, and a deeper directory's lines win over
a higher one's.  What lies in a directory that was left out cannot be taken back, as the walk never gets there.
Pathspec judges whole paths and so gets `*`, `!*/`, `!*.c` wrong level by level; hence our own.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jarvis_workers.snapshots.exclusion_reasons import ignored_by_file
from jarvis_workers.snapshots.globs import translate

LONGEST_FILE = 65_536
LONGEST_LINE = 1_000
MOST_LINES = 1_000
LONGEST_KEPT = 16_384
_UNTRIMMED = re.compile(rb"((?:\\.|[^\\])*?) *\Z", re.DOTALL)


class IgnorePattern(NamedTuple):
    """A line of a file of globs, and the reason for what it leaves out."""

    text: bytes
    reason: str


class Match(NamedTuple):
    """The last line that matches a path."""

    negated: bool
    reason: str


class Globs:
    """The lines that hold in one directory, as one expression."""

    def __init__(self, lines: Iterable[IgnorePattern]) -> None:
        rules = [(_unwrapped(line.text), line.reason) for line in lines]
        rules = [(glob, reason) for glob, reason in rules if glob and not glob.startswith(b"#")]
        rules.reverse()
        self._matches = [Match(glob.startswith(b"!"), reason) for glob, reason in rules]
        self._expression = _compile([translate(glob.removeprefix(b"!")) for glob, _ in rules]) if rules else None

    def match(self, path: bytes) -> Match | None:
        """Take a path relative to the directory of the lines; a directory's path ends with a slash."""
        found = self._expression.fullmatch(path) if self._expression else None
        return self._matches[found.lastindex - 1] if found and found.lastindex else None


def _compile(alternatives: Iterable[bytes]) -> re.Pattern[bytes]:
    joined = b"|".join(b"(" + alternative + b")" for alternative in alternatives)
    expression = re.compile(joined, re.DOTALL)
    if len(joined) > LONGEST_KEPT:
        re.purge()  # the module keeps the last 512 expressions, and a hostile tree makes each of them megabytes
    return expression


class IgnoreRules(NamedTuple):
    """The globs of a directory, the length of its path, and the nearest ones above.

    `for_tracked` are those that hold for files that git tracks, too.
    """

    globs: Globs
    for_tracked: Globs
    length: int
    above: "IgnoreRules | None"


def ignored_by(rules: IgnoreRules | None, path: bytes, *, tracked: bool = False) -> str | None:
    """Return the reason for leaving out a path, which is relative to the root, if it is left out."""
    while rules is not None:
        globs = rules.for_tracked if tracked else rules.globs
        found = globs.match(path[rules.length :])
        if found:
            return None if found.negated else found.reason
        rules = rules.above
    return None


def ignore_lines(name: str, content: bytes | None) -> Sequence[IgnorePattern]:
    """Return the lines of an ignore file.

    One that cannot be read, or is beyond the limits, takes everything back, as what it spares must not go unchecked.
    """
    reason = ignored_by_file(name)
    lines = _lines(content)
    return [IgnorePattern(b"!*", reason)] if lines is None else [IgnorePattern(line, reason) for line in lines]


def _lines(content: bytes | None) -> list[bytes] | None:
    if content is None or len(content) > LONGEST_FILE:
        return None
    lines = [line for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line and not line.startswith(b"#")]
    return lines if len(lines) <= MOST_LINES and max(map(len, lines), default=0) <= LONGEST_LINE else None


def _unwrapped(line: bytes) -> bytes:
    """Without the carriage return and the blanks at its end, unless a backslash keeps them."""
    line = line.removesuffix(b"\r")
    found = _UNTRIMMED.match(line)
    return found[1] if found else line
