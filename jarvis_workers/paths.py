"""File names are bytes: how they travel in JSON, how people see them, and which are refused.

A manifest holds them as text with surrogate escapes, which is exact for any bytes; people see `\\xNN`, which is
always valid UTF-8 and can be turned back: where a name itself says `\\xNN`, its backslash is written as `\\x5c`.
"""

import re

_UNSAFE = re.compile(rb"(?:\A|/)\.{0,2}(?:/|\Z)|\0")
_LOOKS_ESCAPED = re.compile(rb"\\(?=x[0-9a-f]{2})")
_ESCAPED = re.compile(rb"\\x([0-9a-f]{2})")


def shown(path: bytes) -> str:
    """Return the path for people: UTF-8 as it is, other bytes as `\\xNN`."""
    return _LOOKS_ESCAPED.sub(rb"\\x5c", path).decode("utf-8", "backslashreplace").replace("\0", "\\x00")


def from_shown(text: str) -> bytes:
    """Return the path that people see as this text."""
    return _ESCAPED.sub(lambda found: bytes.fromhex(found[1].decode()), text.encode("utf-8", "backslashreplace"))


def plain(text: str) -> str:
    """Return text that a terminal shows and does not obey: what is not printable becomes `\\xNN` or `\\uNNNN`."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def as_text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def from_text(text: str) -> bytes:
    """Raise ValueError for text that no path turns into."""
    return text.encode("utf-8", "surrogateescape")


def leaves_the_root(path: bytes) -> bool:
    """Whether a path is absolute or empty, or has a NUL or an empty, `.` or `..` component."""
    return _UNSAFE.search(path) is not None
