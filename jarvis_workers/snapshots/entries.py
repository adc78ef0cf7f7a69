"""The outcomes of a walk through a tree."""

from typing import NamedTuple


class FileFound(NamedTuple):
    """A file to pack. Its directory is open only until the walk continues."""

    path: bytes
    directory: int
    name: bytes


class NotChecked(NamedTuple):
    """A file or directory that should be checked but cannot be."""

    path: bytes
    reason: str


class Excluded(NamedTuple):
    """A directory excluded with everything in it."""

    path: bytes
    reason: str


class LeftOut(NamedTuple):
    """Files that are not selected."""

    reason: str
    files: int = 1


class OtherFiles(NamedTuple):
    """Names in a directory, which is empty or ends with a slash, of files that are no sources, and of all links."""

    directory: bytes
    names: tuple[bytes, ...]
    links: tuple[bytes, ...] = ()


class OtherCode(NamedTuple):
    """A file that a compiler takes for code, in none of the languages that are scanned."""

    path: bytes


Outcome = FileFound | NotChecked | Excluded | LeftOut | OtherFiles | OtherCode
