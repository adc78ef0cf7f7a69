"""Sources that a change takes out of its own scan without deleting them.

A change may delete code.  But code that the scan of the base would read, and that is moved to where this scan does not
look (`vendor`, an ignored directory), or whose place is now a link or a submodule, would pass the gate unseen.  Both
revisions are walked with the same selection, the base in a checkout of its own.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.service.sources import is_address
from jarvis_workers.service.targets import target_of
from jarvis_workers.snapshots.entries import FileFound
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.snapshots.walk import walk
from jarvis_workers.toolchain import git


class ScanPaths(NamedTuple):
    """The files and directories to scan, by name (none: the current directory), and the globs of the scan."""

    names: Sequence[str] = ()
    root: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def places(self, directory: Path) -> list[Path]:
        """Return the places to scan; none if they are those of a repository URL."""
        names = self.names or (".",)
        return [] if any(is_address(name) for name in names) else [directory / name for name in names]


class _Below(NamedTuple):
    """The paths of a scan, from the top of a repository."""

    paths: Sequence[str]
    root: str | None

    def files(self, top: Path, selection: Selection) -> frozenset[bytes]:
        """Return the files that are selected in a checkout, from its top; none where links lead out of it."""
        names = [str(top / path) for path in self.paths if (top / path).exists()]
        if not names:
            return frozenset()
        try:
            target = target_of(names, self.root and str(top / self.root))
            root = Path(target.root).resolve()
            above = os.fsencode(root.relative_to(top))
        except (UsageError, ValueError):
            return frozenset()
        found = walk(root, replace(selection, paths=target.paths))
        return frozenset(os.path.normpath(above + b"/" + one.path) for one in found if isinstance(one, FileFound))


def unscanned_sources(
    base: git.Borrowed, changed: Mapping[bytes, git.Modes], scan: ScanPaths, directory: Path, selection: Selection
) -> list[bytes]:
    """Return the old paths of sources that are moved out of the scan, and the links and submodules in place of others.

    `base` is the base revision, `changed` its entries that now differ; all paths are from the top.
    """
    gone = {path for path, modes in changed.items() if modes.loses_file and selection.is_source(_name(path))}
    top = base.top.resolve()
    below = _below(scan, directory, top)
    if not gone or not below.paths:
        return []
    renamed = {old: new for old, new in git.renames_since(base).items() if old in gone}
    now = below.files(top, selection) if renamed else frozenset()
    suspects = {old: old for old, new in renamed.items() if new not in now}
    for path in gone:
        for one in _with_parents(path):
            if one in changed and changed[one].redirects:
                suspects[path] = one
    if not suspects:
        return []
    try:
        git.check_out(base)
    except UsageError:
        return sorted(set(suspects.values()))
    return sorted({suspects[path] for path in suspects.keys() & below.files(base.place.resolve(), selection)})


def _below(scan: ScanPaths, directory: Path, top: Path) -> _Below:
    """Return the paths of a scan from the top; like the scan, several have the current directory as their root."""
    paths = [path for path in (_from(top, place) for place in scan.places(directory)) if path is not None]
    if scan.root is not None or len(paths) < 2:
        return _Below(paths, _from(top, directory / scan.root) if scan.root is not None else None)
    here = _from(top, directory) or "."
    return _Below(paths, here if all(Path(path).is_relative_to(here) for path in paths) else ".")


def _from(top: Path, place: Path) -> str | None:
    """Return a path from the top, whose own links stay in it; None outside."""
    for one in (place, place.resolve()):
        relative = Path(os.path.relpath(one, top))
        if os.pardir not in relative.parts:
            return str(relative)
    return None


def _with_parents(path: bytes) -> Iterator[bytes]:
    while path:
        yield path
        path = path.rpartition(b"/")[0]


def _name(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]
