"""Which files of a tree are wanted."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from jarvis_workers.snapshots.ignore import Globs, Line
from jarvis_workers.snapshots.reasons import EXCLUDED, NOT_INCLUDED
from jarvis_workers.snapshots.unchanged import Unchanged

OWN_DIRECTORY = b".jarvis"
GIT_IGNORE = ".gitignore"
# The lines of the later one win.
IGNORE_FILES = (GIT_IGNORE, ".jarvisignore")
EXCLUDED_DIRECTORIES = frozenset({b".git", b"build", b"out", b"target", b"third_party", b"vendor", OWN_DIRECTORY})


@dataclass(frozen=True)
class Selection:
    """The choice of a user: suffixes with their dot, case-sensitive, None for all; globs as in .gitignore.

    Globs are relative to the root. With `include`, only what such a glob matches, or what lies in a directory that one
    matches, is wanted; what is `unchanged` is not. Of IGNORE_FILES those in `ignore_files` are read; .gitignore decides
    on files that git does not track alone.
    """

    suffixes: frozenset[bytes] | None
    exclude_dirs: frozenset[bytes] = EXCLUDED_DIRECTORIES
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    ignore_files: tuple[str, ...] = IGNORE_FILES
    max_file_bytes: int = 64_000_000
    unchanged: Unchanged | None = None

    def is_source(self, name: bytes) -> bool:
        if self.suffixes is None:
            return True
        dot = name.rfind(b".")
        return dot > 0 and name[dot:] in self.suffixes

    def excludes(self, path: bytes) -> bool:
        found = self._excluding.match(path) if self.exclude else None
        return found is not None and not found.negated

    def includes(self, path: bytes) -> bool:
        if not self.include:
            return True
        found = self._including.match(path)
        return found is not None and not found.negated

    @cached_property
    def _excluding(self) -> Globs:
        return Globs(_lines(self.exclude, EXCLUDED))

    @cached_property
    def _including(self) -> Globs:
        return Globs(_lines(self.include, NOT_INCLUDED))


def _lines(globs: Sequence[str], reason: str) -> list[Line]:
    return [Line(os.fsencode(glob.removeprefix(".") if glob.startswith("./") else glob), reason) for glob in globs]
