"""The selection of files in a tree."""

import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from jarvis_workers.snapshots.exclusion_reasons import EXCLUDED, NOT_INCLUDED
from jarvis_workers.snapshots.ignore import Globs, IgnorePattern
from jarvis_workers.snapshots.unchanged_since import Unchanged

OWN_DIRECTORY = b".jarvis"
GIT_IGNORE, JARVIS_IGNORE = ".gitignore", ".jarvisignore"
# In order of increasing precedence.
IGNORE_FILES = (GIT_IGNORE, JARVIS_IGNORE)
SLASH = ord("/")
# `.pc` has quilt's copies of the files that patches change.
EXCLUDED_DIRECTORIES = frozenset(
    {b".git", b".pc", b"build", b"out", b"target", b"third_party", b"vendor", OWN_DIRECTORY}
)


@dataclass(frozen=True)
class Selection:
    """The selection of a user: suffixes with their dot, None for all; globs as in .gitignore.

    A suffix also selects its spellings in capitals: `.cpp` is `.CPP` and `.c` is `.C`, but `.C` is not `.c`.
    With `follow_includes`, files that sources include are selected, too, whatever their names: `reached` are their
    paths, which are not excluded otherwise. Those that are `compiled` are selected in the same way.

    Globs are relative to the root. With `include`, only matching files and files in matching directories are selected;
    `unchanged` files are not. Of IGNORE_FILES only those in `ignore_files` are read; .gitignore applies only to files
    that git does not track.

    `paths` are the files and directories named by the user, relative to the root (b"" is the root itself; empty means
    the root). Each one is walked like a root: neither ignore files above it nor excluded directories apply.
    """

    suffixes: frozenset[bytes] | None
    exclude_dirs: frozenset[bytes] = EXCLUDED_DIRECTORIES
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    ignore_files: tuple[str, ...] = IGNORE_FILES
    max_file_bytes: int = 64_000_000
    unchanged: Unchanged | None = None
    paths: tuple[bytes, ...] = ()
    follow_includes: bool = False
    reached: frozenset[bytes] = frozenset()
    compiled: frozenset[bytes] = frozenset()

    def is_source(self, name: bytes) -> bool:
        if self.suffixes is None:
            return True
        dot = name.rfind(b".")
        return dot > 0 and (name[dot:] in self.suffixes or name[dot:].lower() in self.suffixes)

    def selects(self, path: bytes) -> bool:
        """Return whether a file is a source by its name, or because sources include it."""
        return path in self.reached or self.is_source(path.rpartition(b"/")[2])

    def excludes(self, path: bytes) -> bool:
        match = self._excluding.match(path) if self.exclude else None
        return match is not None and not match.negated

    def includes(self, path: bytes) -> bool:
        if not self.include:
            return True
        match = self._including.match(path)
        return match is not None and not match.negated

    @property
    def is_whole(self) -> bool:
        """Whether the whole root is selected rather than parts of it."""
        return not self.paths or b"" in self.paths

    def covers(self, path: bytes) -> bool:
        """Return whether a path is selected by name or is in a directory that is."""
        return self.is_whole or path in self.named or any(above in self.named for above in _above(path))

    @cached_property
    def named(self) -> frozenset[bytes]:
        return frozenset(self.paths)

    @cached_property
    def steps(self) -> Mapping[bytes, Collection[bytes]]:
        """The entries on the way to the selected paths, by their parent directory (b"" is the root)."""
        result: defaultdict[bytes, set[bytes]] = defaultdict(set)
        for path in filter(None, self.paths):
            for one in (*_above(path), path):
                directory, _, name = one.rpartition(b"/")
                result[directory].add(name)
        return result

    @cached_property
    def reached_in(self) -> Mapping[bytes, Collection[bytes]]:
        """The names of the `reached` files, by their directory (b"" is the root)."""
        result: defaultdict[bytes, list[bytes]] = defaultdict(list)
        for path in self.reached:
            directory, _, name = path.rpartition(b"/")
            result[directory].append(name)
        return result

    @cached_property
    def _excluding(self) -> Globs:
        return Globs(_lines(self.exclude, EXCLUDED))

    @cached_property
    def _including(self) -> Globs:
        return Globs(_lines(self.include, NOT_INCLUDED))


def _above(path: bytes) -> Iterator[bytes]:
    """Yield the parent directories of a path, topmost first, without the root."""
    return (path[:place] for place, letter in enumerate(path) if letter == SLASH)


def _lines(globs: Sequence[str], reason: str) -> list[IgnorePattern]:
    return [
        IgnorePattern(os.fsencode(glob.removeprefix(".") if glob.startswith("./") else glob), reason) for glob in globs
    ]
