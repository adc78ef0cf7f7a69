"""What a walk through a tree says of each thing it meets."""

from typing import NamedTuple


class FileFound(NamedTuple):
    """A file to pack.  Its directory is open only until the walk goes on."""

    path: bytes
    directory: int
    name: bytes


class NotChecked(NamedTuple):
    """What would have been checked, and could not be."""

    path: bytes
    reason: str


class Excluded(NamedTuple):
    """A directory that was left out with all that is in it."""

    path: bytes
    reason: str


class LeftOut(NamedTuple):
    """Files that nobody asked for."""

    reason: str
    files: int = 1


Outcome = FileFound | NotChecked | Excluded | LeftOut
