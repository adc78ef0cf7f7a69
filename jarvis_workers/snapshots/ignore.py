"""Decide whether globs exclude a path, with git's semantics.

Within one directory the last matching line decides, `!` re-includes a path, and lines of a deeper directory take
precedence. A path in an excluded directory cannot be re-included, since the walk does not enter it. The pathspec
library is not used: it matches whole paths, while `*`, `!*/`, `!*.c` require a decision per directory level.
"""

import errno
import re
import stat
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jarvis_workers.paths import plain, shown
from jarvis_workers.snapshots.globs import translate

# Reasons why a file is not in a snapshot, as quoted and counted in reports.

LINK_WITHIN_THE_TREE = "link within the tree"
EXCLUDED_DIRECTORY = "excluded directory"
EXCLUDED = "excluded by --exclude"
NOT_INCLUDED = "not among --include"
NOT_SOURCE = "given by name, but not in a selected language"

LINK_OUT = "symbolic link to a target outside the root; scan the target separately"
LINK_TO_NO_SOURCE = "symbolic link to a file without a source suffix: rename the target, or scan it separately"
LINK_TO_OWN = "symbolic link into .jarvis, which is never scanned; scan the target separately"
ANNEX_POINTER = "git-annex pointer, not the file itself; fetch it with: git annex get"
LFS_POINTER = "Git LFS pointer, not the file itself; fetch it with: git lfs pull"
LINK_LOOP = "symbolic link loop"
LINK_BROKEN = "broken symbolic link"
CHANGING = "changed repeatedly while it was read"
MOVED = "moved while the tree was read"
VANISHED = "deleted while the tree was read"
REPLACED = "replaced while the tree was read"
NO_PERMISSION = "no permission to read it"
TOO_DEEP = "nested too deeply: its path is longer than 65,536 bytes"
TOO_MANY_INCLUDES = "more than 20,000 #include lines; files that the others include may not be checked"
TOO_MANY_INCLUDED = "too many files without a source suffix are included, or too deeply; not all of them were checked"
INCLUDED_RUST = "includes a file named .rs, which is checked as Rust, not as C"
INCLUDED_BY_RUST = "included by Rust code, but not named .rs, so it was not checked as Rust"
INCLUDED_FROM_OUTSIDE = "included from outside of the scanned paths"
INCLUDED_FROM_OWN = "included from .jarvis, which is never scanned"

_BY_ERRNO = {
    errno.EACCES: NO_PERMISSION,
    errno.EPERM: NO_PERMISSION,
    errno.ENOENT: VANISHED,
    errno.ESTALE: VANISHED,
    errno.ELOOP: REPLACED,
    errno.ENOTDIR: REPLACED,
    errno.ENXIO: "socket, not a regular file",
}


def reason_of(error: OSError) -> str:
    return _BY_ERRNO.get(error.errno or 0) or f"cannot be read: {error.strerror or error}"


def ignored_by_file(name: str) -> str:
    """Return the reason for a file ignored by the ignore file `name`, such as .gitignore."""
    return f"ignored by {name}"


def included_by_macro(name: bytes | None) -> str:
    """Return the reason for a file that `#include NAME` includes; None stands for further macros."""
    return f"included by the macro {name.decode('ascii', 'replace')}" if name else "included by other macros"


def included_from(directory: bytes | None) -> str:
    """Return the reason for a file that a source includes from an excluded directory; None stands for further ones."""
    if directory is None:
        return "included from other excluded directories"
    return f"included from the excluded directory {plain(shown(directory))} (name it on the command line to scan it)"


def not_a_source(first: bytes, files: int) -> str:
    """Return the reason for files of one suffix that compilers take for code; `first` is the path of the first."""
    suffix = plain(shown(first.rpartition(b".")[2]))
    return f"with the suffix .{suffix}, which is not scanned: {plain(shown(first))}{' and others' if files > 1 else ''}"


def too_large(size: int, limit: int) -> str:
    return f"too large: {size:,} bytes, limit {limit:,}"


def not_regular(mode: int) -> str:
    """Return the reason for a file that is not regular, by its mode."""
    if stat.S_ISFIFO(mode):
        return "named pipe, not a regular file"
    if stat.S_ISSOCK(mode):
        return "socket, not a regular file"
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return "device, not a regular file"
    return "not a regular file"


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
