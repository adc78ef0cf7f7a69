"""Find what an included name denotes: the file beside the including one, or else all paths below the root that end so.

Any directory may be one in which the compiler searches. Links are resolved, so that a file is found at its real path;
nothing is opened. Excluded directories are not listed, so a name is found there if it begins with that directory.
"""

import os
import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path

from jarvis_workers.snapshots.entries import OtherFiles
from jarvis_workers.snapshots.selection import OWN_DIRECTORY, Selection

# Bounds for trees that are made to exceed them. Paths that one name may denote, and those that are looked at below
# links and excluded directories.
MATCHES_MAX = 100
CHECKS_MAX = 200_000

ByName = Mapping[bytes, Sequence[bytes]]


class IncludeSearch:
    """The files that are no sources, the links and the excluded directories of a tree, by their names."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self.root = b""
        # By directory, joined by slashes: a tree may have millions of files.
        self._others: list[tuple[bytes, bytes]] = []
        self._links = defaultdict[bytes, list[bytes]](list)
        self._excluded = {OWN_DIRECTORY}
        self._checks = CHECKS_MAX

    def add_others(self, others: OtherFiles) -> None:
        self._others.append((others.directory, b"/".join(others.names)))
        for name in others.links:
            self._links[name].append(others.directory + name)

    def add_excluded(self, directory: bytes) -> None:
        self._excluded.add(directory)

    @property
    def is_spent(self) -> bool:
        """Whether some paths were not looked at."""
        return self._checks < 0

    def by_name(self, names: set[bytes]) -> ByName:
        """Return the paths of the other files with these names."""
        result = defaultdict[bytes, list[bytes]](list)
        for directory, joined in self._others if names else ():
            for name in names.intersection(joined.split(b"/")):
                result[name].append(directory + name)
        return result

    def beside(self, directory: bytes, name: bytes) -> bytes | None:
        """Return the real path of a name in a directory, or of a broken link; None if there is none below the root."""
        path = posixpath.join(directory, name)
        try:
            real = os.path.realpath(posixpath.join(self.root, path), strict=True)
        except (OSError, ValueError):
            path = posixpath.normpath(path)
            is_link = not path.startswith((b"/", b"../")) and os.path.lexists(posixpath.join(self.root, path))
            return path if is_link else None
        above = self.root.rstrip(b"/") + b"/"
        return real[len(above) :] if real.startswith(above) else None

    def is_directory(self, path: bytes) -> bool:
        return Path(os.fsdecode(posixpath.join(self.root, path))).is_dir()

    def is_outside(self, directory: bytes, name: bytes) -> bool:
        """Return whether a name in a directory is one of a file outside of the root."""
        path = posixpath.normpath(posixpath.join(directory, name))
        return path.startswith(b"../") or (path.startswith(b"/") and not path.startswith(self.root + b"/"))

    def below(self, name: bytes, by_name: ByName) -> list[bytes]:
        """Return the other files at the ends of all paths, also through links, at most MATCHES_MAX + 1."""
        tail = self._tail(name)
        candidates = by_name.get(posixpath.basename(tail), ())
        result = [path for path in candidates if path == tail or path.endswith(b"/" + tail)]
        through = (self.beside(b"", path.rstrip(b"/")) for path in self._look(_continued(tail + b"/", self._links)))
        return list(dict.fromkeys([*result, *filter(None, through)]))[: MATCHES_MAX + 1]

    def in_excluded(self, name: bytes) -> Iterator[bytes]:
        """Yield the paths of existing files in excluded directories that a name denotes."""
        for path in self._look(_continued(self._tail(name), self._excluded_by_name)):
            if os.path.lexists(posixpath.join(self.root, path)):
                yield path

    @cached_property
    def _excluded_by_name(self) -> ByName:
        result = defaultdict[bytes, list[bytes]](list)
        for directory in sorted(self._excluded):
            result[posixpath.basename(directory)].append(directory)
        return result

    def excluded_above(self, path: bytes) -> bytes | None:
        """Return the excluded directory that has a file, unless a directory below it is selected by name."""
        above = path
        while above and above not in self._selection.named:
            if above in self._excluded:
                return above
            above = above.rpartition(b"/")[0]
        return None

    def _tail(self, name: bytes) -> bytes:
        """Return a name without `.` and `..`, as it is at the end of a path."""
        return posixpath.normpath(b"/" + name.removeprefix(self.root)).lstrip(b"/")

    def _look(self, paths: Iterator[bytes]) -> Iterator[bytes]:
        for path in islice(paths, MATCHES_MAX):
            self._checks -= 1
            if self._checks < 0:
                return
            yield path


def _continued(name: bytes, directories: ByName) -> Iterator[bytes]:
    """Yield the paths below those directories whose paths end as the name begins."""
    at = name.find(b"/")
    while at > 0:
        head = name[:at]
        for directory in directories.get(posixpath.basename(head), ()):
            if directory == head or directory.endswith(b"/" + head):
                yield directory + name[at:]
        at = name.find(b"/", at + 1)
