"""File names are bytes: their form in JSON, their form for users, and which ones are rejected.

A manifest stores them as text with surrogate escapes, which is lossless. Users see `\\xNN` for other bytes, which is
always valid UTF-8 and reversible: in a name that literally contains `\\xNN`, the backslash is shown as `\\x5c`.
"""

import errno
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

_UNSAFE = re.compile(rb"(?:\A|/)\.{0,2}(?:/|\Z)|\0")
_LOOKS_ESCAPED = re.compile(rb"\\(?=x[0-9a-f]{2})")
_ESCAPED = re.compile(rb"\\x([0-9a-f]{2})")


GIT_NAMES = (".git", "git~1")


def shown(path: bytes) -> str:
    """Return a path for display: valid UTF-8 unchanged, other bytes as `\\xNN`."""
    return _LOOKS_ESCAPED.sub(rb"\\x5c", path).decode("utf-8", "backslashreplace").replace("\0", "\\x00")


def from_shown(text: str) -> bytes:
    """Return the path whose display form is this text; the inverse of `shown`."""
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), text.encode("utf-8", "backslashreplace"))


def plain(text: str) -> str:
    """Return text that is safe on a terminal: characters that are not printable become `\\xNN` or `\\uNNNN`."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def listing(names: Sequence[str], most: int) -> str:
    """Return the first names separated by commas, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def is_unsafe(path: str) -> bool:
    """Return whether a path is not one of a file in a tree: it is absolute, leaves the tree, or belongs to git.

    Git's directory has other names where the file system ignores case, or what a name ends with.
    """
    parts = path.split("/")
    return "\0" in path or any(part in ("", ".", "..") or part.lower().rstrip(" .") in GIT_NAMES for part in parts)


def as_text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def from_text(text: str) -> bytes:
    """Return the path whose JSON form is this text. Raises ValueError for text that is not such a form."""
    return text.encode("utf-8", "surrogateescape")


def leaves_the_root(path: bytes) -> bool:
    """Return whether a path is absolute or empty, or contains NUL or an empty, `.` or `..` component."""
    return _UNSAFE.search(path) is not None


def read_regular(path: Path, most_bytes: int) -> bytes:
    """Return the first `most_bytes` + 1 bytes of a regular file, so that a longer one is noticed.

    Raises OSError, also for a pipe or a device, which could block or never end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return stream.read(most_bytes + 1)
