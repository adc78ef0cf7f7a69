"""Decide whether globs exclude a path, with git's semantics.

Within one directory the last matching line decides, `!` re-includes a path, and lines of a deeper directory take
precedence. A path in an excluded directory cannot be re-included, since the walk does not enter it. The pathspec
library is not used: it matches whole paths, while `*`, `!*/`, `!*.c` require a decision per directory level.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jarvis_workers.snapshots.exclusion_reasons import ignored_by_file
from jarvis_workers.snapshots.globs import translate

LONGEST_FILE = 65_536
LONGEST_LINE = 1_000
MOST_LINES = 1_000
CACHED_LENGTH_MAX = 16_384
_UNTRIMMED = re.compile(rb"((?:\\.|[^\\])*?) *\Z", re.DOTALL)


class IgnorePattern(NamedTuple):
    """A line of an ignore file, and the reason to report for the paths that it excludes."""

    text: bytes
    reason: str


class Match(NamedTuple):
    """The last line that matches a path."""

    negated: bool
    reason: str


class Globs:
    """The lines that apply in one directory, compiled to one expression."""

    def __init__(self, lines: Iterable[IgnorePattern]) -> None:
        rules = [(_unwrapped(line.text), line.reason) for line in lines]
        rules = [(glob, reason) for glob, reason in rules if glob and not glob.startswith(b"#")]
        rules.reverse()
        self._matches = [Match(glob.startswith(b"!"), reason) for glob, reason in rules]
        self._expression = _compile([translate(glob.removeprefix(b"!")) for glob, _ in rules]) if rules else None

    def match(self, path: bytes) -> Match | None:
        """Match a path relative to the directory of the lines; the path of a directory ends with a slash."""
        found_match = self._expression.fullmatch(path) if self._expression else None
        return self._matches[found_match.lastindex - 1] if found_match and found_match.lastindex else None


def _compile(alternatives: Iterable[bytes]) -> re.Pattern[bytes]:
    joined = b"|".join(b"(" + alternative + b")" for alternative in alternatives)
    expression = re.compile(joined, re.DOTALL)
    if len(joined) > CACHED_LENGTH_MAX:
        re.purge()  # re caches the last 512 expressions, and those of a hostile tree have megabytes each
    return expression


class IgnoreRules(NamedTuple):
    """The globs of a directory, the length of its path, and the rules of the nearest parent.

    `for_tracked` are the globs that also apply to files tracked by git.
    """

    globs: Globs
    for_tracked: Globs
    length: int
    above: "IgnoreRules | None"


def ignored_by(rules: IgnoreRules | None, path: bytes, *, tracked: bool = False) -> str | None:
    """Return the reason why a path, relative to the root, is excluded, or None."""
    while rules is not None:
        globs = rules.for_tracked if tracked else rules.globs
        match = globs.match(path[rules.length :])
        if match:
            return None if match.negated else match.reason
        rules = rules.above
    return None


def ignore_lines(name: str, content: bytes | None) -> Sequence[IgnorePattern]:
    """Return the lines of an ignore file.

    A file that is unreadable or exceeds the limits re-includes everything, so that no source is skipped by mistake.
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
    """Remove the carriage return and trailing blanks, unless these are escaped by a backslash."""
    line = line.removesuffix(b"\r")
    match = _UNTRIMMED.match(line)
    return match[1] if match else line
