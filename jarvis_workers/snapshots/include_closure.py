"""The files without a source suffix that `#include` lines of sources reach: they are compiled, so they are scanned.

While a tree is walked, the closure collects what its sources include, and the names of its other files. Afterwards it
finds the files among these, those that they include, and so on. The result is a set of paths, which does not depend on
the order of files. Included files in excluded directories are counted, also those with a source suffix.
"""

import os
import posixpath
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from jarvis_workers.snapshots.entries import LeftOut, NotChecked, OtherFiles
from jarvis_workers.snapshots.ignore import (
    INCLUDED_BY_RUST,
    INCLUDED_FROM_OUTSIDE,
    INCLUDED_FROM_OWN,
    INCLUDED_RUST,
    TOO_MANY_INCLUDED,
    TOO_MANY_INCLUDES,
    included_by_macro,
    included_from,
    reason_of,
)
from jarvis_workers.snapshots.include_search import MATCHES_MAX, ByName, IncludeSearch
from jarvis_workers.snapshots.other_code import OtherCodeFiles
from jarvis_workers.snapshots.safe_read import Read, read_file
from jarvis_workers.snapshots.selection import OWN_DIRECTORY, Selection
from jarvis_workers.source.includes import IncludedName, included_names, rust_included_names

# Bounds for trees that are made to exceed them; what is beyond is reported. Depth: the one of gcc and clang.
DEPTH_MAX = 200
FILES_MAX = 10_000
LOOKUPS_MAX = 200_000
LISTED_MAX = 10
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class IncludeClosure:
    """Collects the includes of sources and the names of other files; `paths` returns the files to add."""

    def __init__(self, selection: Selection, *, files_max: int = FILES_MAX) -> None:
        self._selection, self._files_max = selection, files_max
        self._search = IncludeSearch(selection)
        # Where a name is looked up first, and the name.
        self._lookups: dict[tuple[bytes, bytes], None] = {}
        # Names, also of sources, that may begin with an excluded directory.
        self._longer = set[bytes]()
        # What Rust sources include, and from where.
        self._from_rust: dict[tuple[bytes, bytes], None] = {}
        self.other_code = OtherCodeFiles()
        self._macros = Counter[bytes]()
        self._outside = set[bytes]()
        self._from_excluded = defaultdict[bytes, set[bytes]](set)
        self._not_looked_up = set[bytes]()
        self._not_checked = set[NotChecked]()

    def add_others(self, others: OtherFiles) -> None:
        self._search.add_others(others)

    def add_excluded(self, directory: bytes) -> None:
        self._search.add_excluded(directory)

    def add_source(self, path: bytes, content: bytes) -> None:
        """Add what a source includes."""
        is_rust = _is_rust(path)
        includes = rust_included_names(content) if is_rust else included_names(content)
        if not includes.complete:
            self._not_checked.add(NotChecked(path, TOO_MANY_INCLUDES))
        for one in includes.names:
            if one.macro:
                self._macros[one.name] += 1
            elif is_rust:
                self._want_from_rust(path, one.name)
            elif _is_rust(one.name):
                self._not_checked.add(NotChecked(path, INCLUDED_RUST))
            else:
                self._want(path.rpartition(b"/")[0], one)

    def _want(self, directory: bytes, include: IncludedName) -> None:
        name = include.name.replace(b"\\", b"/")
        if b"/" in name:
            self._want_in_excluded(name)
        if self._selection.is_source(posixpath.basename(name)):
            return
        if len(self._lookups) < LOOKUPS_MAX:
            self._lookups[directory if include.quoted else b"", name] = None
        else:
            self._not_checked.add(TOO_MANY)

    def _want_from_rust(self, path: bytes, name: bytes) -> None:
        if len(self._from_rust) < LOOKUPS_MAX:
            self._from_rust[path.rpartition(b"/")[0], name] = None
        else:
            self._not_checked.add(TOO_MANY)

    def _want_in_excluded(self, name: bytes) -> None:
        if len(self._longer) < LOOKUPS_MAX:
            self._longer.add(name)
        elif name not in self._longer:
            self._not_looked_up.add(name)

    def paths(self, root: Path, read: Read) -> frozenset[bytes]:
        """Return the paths of the included files below `root`; ignore files and globs may still exclude some."""
        paths, real = set[bytes](), root.resolve()
        self._search.root = os.fsencode(real)
        compiled = self._compiled() | self.other_code.objective_c(
            partial(_read_below, real, limit=self._selection.max_file_bytes, read=read)
        )
        for _ in range(DEPTH_MAX):
            new = (self._included() | compiled) - paths
            if len(paths) + len(new) > self._files_max:
                self._not_checked.add(TOO_MANY)
            some = sorted(new)[: self._files_max - len(paths)]
            if not some:
                break
            paths.update(some)
            for path in some:
                content = _read_below(real, path, self._selection.max_file_bytes, read)
                self.add_source(path, content if isinstance(content, bytes) else b"")
        else:
            self._not_checked.add(TOO_MANY)
        by_name = self._search.by_name({posixpath.basename(name) for _, name in self._from_rust})
        for directory, name in self._from_rust:
            self._look_from_rust(directory, name, by_name)
        for name in sorted(self._longer):
            for path in self._search.in_excluded(name):
                self._is_scanned(path)
            if self._search.is_spent:
                self._not_looked_up.add(name)
        self.other_code.reached = paths
        return frozenset(paths)

    def remarks(self) -> Iterator[LeftOut | NotChecked]:
        """Yield what is not followed."""
        yield from sorted(self._not_checked)
        if self._outside:
            yield LeftOut(INCLUDED_FROM_OUTSIDE, len(self._outside))
        counts = {directory: len(files) for directory, files in self._from_excluded.items()}
        yield from _listed(counts, included_from, others=len(self._not_looked_up))
        yield from _listed(self._macros, included_by_macro)
        yield from self.other_code.remarks()

    def _compiled(self) -> set[bytes]:
        """Return the other files that the build compiles."""
        found = (self._search.beside(b"", path) for path in self._selection.compiled)
        return {path for path in found if path and not self._search.is_directory(path) and self._is_scanned(path)}

    def _included(self) -> set[bytes]:
        """Return the other files that the names to look up denote."""
        lookups, self._lookups = self._lookups, {}
        by_name = self._search.by_name({posixpath.basename(name) for _, name in lookups})
        found = {path for place, name in lookups for path in self._matches(place, name, by_name)}
        if self._search.is_spent:
            self._not_checked.add(TOO_MANY)
        return {path for path in found if self._is_scanned(path)}

    def _matches(self, directory: bytes, name: bytes, by_name: ByName) -> Sequence[bytes]:
        beside = self._search.beside(directory, name)
        matches = [beside] if beside is not None else self._search.below(name, by_name)
        # With named paths, the root has files that are not listed.
        if not matches and (path := self._search.beside(b"", name)) is not None:
            return [path]
        if not matches and self._search.is_outside(directory, name):
            self._outside.add(posixpath.normpath(posixpath.join(directory, name)))
        if len(matches) > MATCHES_MAX:
            self._not_checked.add(TOO_MANY)
        return matches[:MATCHES_MAX]

    def _look_from_rust(self, directory: bytes, name: bytes, by_name: ByName) -> None:
        paths = self._rust_matches(directory, name, by_name)
        for path in paths:
            if _is_rust(path):
                self._is_scanned(path)
            elif not self._search.is_directory(path):
                self._not_checked.add(NotChecked(path, INCLUDED_BY_RUST))
        if not paths and self._search.is_outside(directory, name):
            self._outside.add(posixpath.normpath(posixpath.join(directory, name)))

    def _rust_matches(self, directory: bytes, name: bytes, by_name: ByName) -> Sequence[bytes]:
        """Return the file beside the including one, else those in directories below it, as of inline modules."""
        if (path := self._search.beside(directory, name)) is not None:
            return [path]
        start = directory and directory + b"/"
        return [path for path in self._search.below(name, by_name) if path.startswith(start)][:MATCHES_MAX]

    def _is_scanned(self, path: bytes) -> bool:
        """Return whether an included file is to be added; count it if it is neither added nor a source."""
        excluded = self._search.excluded_above(path)
        if excluded == OWN_DIRECTORY:
            self._not_checked.add(NotChecked(path, INCLUDED_FROM_OWN))
        elif excluded is not None:
            self._from_excluded[excluded].add(path)
        elif not self._selection.covers(path):
            self._outside.add(path)
        else:
            return not self._selection.is_source(posixpath.basename(path))
        return False


TOO_MANY = NotChecked(b".", TOO_MANY_INCLUDED)


def _is_rust(name: bytes) -> bool:
    return name.lower().endswith(b".rs")


def _listed(
    counts: Mapping[bytes, int], reason: Callable[[bytes | None], str], *, others: int = 0
) -> Iterator[LeftOut]:
    """Yield the first counts by name, and the further ones together with `others`."""
    listed = sorted(counts)[:LISTED_MAX]
    yield from (LeftOut(reason(name), counts[name]) for name in listed)
    if more := sum(counts.values()) - sum(counts[name] for name in listed) + others:
        yield LeftOut(reason(None), more)


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
