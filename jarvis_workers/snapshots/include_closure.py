"""The files without a source suffix that `#include` lines of sources reach: they are compiled, so they are scanned.

While a tree is walked, the closure collects what its sources include, and the names of its other files. Afterwards it
finds the files among these, those that they include, and so on. The result is a set of paths, which does not depend on
the order of files. A name is looked up beside the including file, and otherwise at the end of all paths, since any
directory may be one in which the compiler searches.
"""

import os
import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from jarvis_workers.snapshots.entries import LeftOut, NotChecked, OtherFiles
from jarvis_workers.snapshots.exclusion_reasons import (
    INCLUDED_FROM_OUTSIDE,
    INCLUDED_RUST,
    TOO_MANY_INCLUDED,
    TOO_MANY_INCLUDES,
    included_by_macro,
    reason_of,
)
from jarvis_workers.snapshots.safe_read import Read, read_file
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.source.includes import IncludedName, included_names

# Bounds for trees that are made to exceed them; what is beyond is reported. Depth: the one of gcc and clang.
DEPTH_MAX = 200
FILES_MAX = 10_000
LOOKUPS_MAX = 200_000
MATCHES_MAX = 100
MACROS_LISTED = 10
RUST = b".rs"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class IncludeClosure:
    """Collects the includes of sources and the names of other files; `paths` returns the files to add."""

    def __init__(self, selection: Selection, *, files_max: int = FILES_MAX) -> None:
        self._selection, self._files_max = selection, files_max
        # By directory, joined by slashes: a tree may have millions of files.
        self._others: list[tuple[bytes, bytes]] = []
        # Where a name is looked up first, and the name.
        self._lookups: dict[tuple[bytes, bytes], None] = {}
        self._macros = Counter[bytes]()
        self._outside = set[bytes]()
        self._not_checked = set[NotChecked]()

    def add_others(self, others: OtherFiles) -> None:
        self._others.append((others.directory, b"/".join(others.names)))

    def add_source(self, path: bytes, content: bytes) -> None:
        """Add what a source includes; Rust sources include nothing."""
        if path.endswith(RUST):
            return
        includes = included_names(content)
        if not includes.complete:
            self._not_checked.add(NotChecked(path, TOO_MANY_INCLUDES))
        for one in includes.names:
            if one.macro:
                self._macros[one.name] += 1
            elif one.name.endswith(RUST):
                self._not_checked.add(NotChecked(path, INCLUDED_RUST))
            elif not self._selection.is_source(posixpath.basename(one.name)):
                self._want(path.rpartition(b"/")[0], one)

    def _want(self, directory: bytes, include: IncludedName) -> None:
        if len(self._lookups) < LOOKUPS_MAX:
            self._lookups[directory if include.quoted else b"", include.name.replace(b"\\", b"/")] = None
        else:
            self._not_checked.add(TOO_MANY)

    def paths(self, root: Path, read: Read) -> frozenset[bytes]:
        """Return the paths of the included files below `root`, whether or not the selection excludes them."""
        paths, real = set[bytes](), root.resolve()
        for _ in range(DEPTH_MAX):
            new = self._included() - paths
            if len(paths) + len(new) > self._files_max:
                self._not_checked.add(TOO_MANY)
            some = sorted(new)[: self._files_max - len(paths)]
            if not some:
                return frozenset(paths)
            paths.update(some)
            for path in some:
                content = _read_below(real, path, self._selection.max_file_bytes, read)
                self.add_source(path, content if isinstance(content, bytes) else b"")
        self._not_checked.add(TOO_MANY)
        return frozenset(paths)

    def remarks(self) -> Iterator[LeftOut | NotChecked]:
        """Yield what is not followed."""
        yield from sorted(self._not_checked)
        if self._outside:
            yield LeftOut(INCLUDED_FROM_OUTSIDE, len(self._outside))
        listed = sorted(self._macros)[:MACROS_LISTED]
        yield from (LeftOut(included_by_macro(macro), self._macros[macro]) for macro in listed)
        if more := self._macros.total() - sum(self._macros[macro] for macro in listed):
            yield LeftOut(included_by_macro(None), more)

    def _included(self) -> set[bytes]:
        """Return the other files that the names to look up denote."""
        lookups, self._lookups = self._lookups, {}
        by_name = defaultdict[bytes, list[bytes]](list)
        names = {posixpath.basename(name) for _, name in lookups}
        for directory, joined in self._others if names else ():
            for name in names.intersection(joined.split(b"/")):
                by_name[name].append(directory + name)
        return {path for place, name in lookups for path in self._matches(place, name, by_name)}

    def _matches(self, directory: bytes, name: bytes, by_name: dict[bytes, list[bytes]]) -> Sequence[bytes]:
        candidates = by_name.get(posixpath.basename(name), [])
        beside = posixpath.normpath(posixpath.join(directory, name))
        if beside in candidates:
            return [beside]
        tail = posixpath.normpath(b"/" + name).lstrip(b"/")
        matches = [path for path in candidates if path == tail or path.endswith(b"/" + tail)]
        if not matches and beside.startswith(b"../"):
            self._outside.add(beside)
        if len(matches) > MATCHES_MAX:
            self._not_checked.add(TOO_MANY)
        return matches[:MATCHES_MAX]


TOO_MANY = NotChecked(b".", TOO_MANY_INCLUDED)


def _read_below(root: Path, path: bytes, limit: int, read: Read) -> bytes | str:
    """Read a file; no link is followed on the way to it. Return a reason if it cannot be read."""
    *directories, name = path.split(b"/")
    with ExitStack() as stack:
        try:
            descriptor = os.open(root, _DIRECTORY)
            stack.callback(os.close, descriptor)
            for directory in directories:
                descriptor = os.open(directory, _DIRECTORY, dir_fd=descriptor)
                stack.callback(os.close, descriptor)
        except OSError as error:
            return reason_of(error)
        return read_file(descriptor, name, limit, read=read)
