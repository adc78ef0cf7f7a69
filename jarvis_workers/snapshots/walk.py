"""Walk a source tree in the order of its path bytes, and say what becomes of everything in it.

Directories are opened relative to the one above and links are never followed, so that nobody who renames things
meanwhile can lead the walk out of the root.  Only the OPEN_DIRECTORIES deepest directories stay open: a higher one is
opened again through `..`, and must be the same as before.
"""

import os
import stat
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_workers.errors import SnapshotError, UsageError
from jarvis_workers.snapshots.ignore import LONGEST_FILE, Globs, Rules, ignore_lines, ignored_by
from jarvis_workers.snapshots.links import judge_link
from jarvis_workers.snapshots.outcome import Excluded, Found, LeftOut, NotChecked, Outcome
from jarvis_workers.snapshots.reading import read_file
from jarvis_workers.snapshots.reasons import (
    EXCLUDED,
    EXCLUDED_DIRECTORY,
    LINK_LOOP,
    MOVED,
    NOT_INCLUDED,
    TOO_DEEP,
    not_regular,
    reason_of,
)
from jarvis_workers.snapshots.selection import OWN_DIRECTORY, Selection

OPEN_DIRECTORIES = 64
LONGEST_PATH = 65_536
IGNORE_FILES = (".gitignore", ".jarvisignore")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CLOSED = -1


def walk(root: Path, selection: Selection) -> Generator[Outcome, None, None]:
    """Yield what becomes of each file and directory below `root`, or of that one file.

    Raise UsageError when there is no such tree, SnapshotError when it cannot be opened.
    """
    try:
        real = root.resolve()
        mode = real.stat().st_mode
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise UsageError(f"{root}: {not_regular(mode)}; give a directory or a file")
        descriptor = os.open(real if stat.S_ISDIR(mode) else real.parent, _DIRECTORY)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"{root}: no such file or directory") from error
    except (OSError, RuntimeError) as error:  # resolve() raises the latter for a loop of links
        raise SnapshotError(f"{root}: {reason_of(error) if isinstance(error, OSError) else LINK_LOOP}") from error
    if stat.S_ISDIR(mode):
        yield from _Walk(os.fsencode(real), selection).run(descriptor)
    else:
        yield from _walk_file(root, os.fsencode(real.name), descriptor, selection)


def _walk_file(root: Path, name: bytes, directory: int, selection: Selection) -> Iterator[Outcome]:
    try:
        path = os.fsencode(root.name)
        if selection.is_source(path):
            yield Found(path, directory, name)
    finally:
        os.close(directory)


@dataclass(slots=True)
class _Level:
    """An open directory; the names are sorted, and a directory's ends with a slash."""

    name: bytes
    descriptor: int
    identity: tuple[int, int]
    included: bool
    rules: Rules | None
    names: Iterator[bytes] = field(default_factory=lambda: iter(()))
    links: set[bytes] = field(default_factory=set)
    special: dict[bytes, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Listing:
    names: list[bytes] = field(default_factory=list)
    links: set[bytes] = field(default_factory=set)
    special: dict[bytes, str] = field(default_factory=dict)
    ignore_files: set[str] = field(default_factory=set)


class _Walk:
    def __init__(self, root: bytes, selection: Selection) -> None:
        self._root = root
        self._selection = selection
        self._levels: list[_Level] = []
        self._path = b""

    def run(self, descriptor: int) -> Iterator[Outcome]:
        try:
            yield from self._enter(b"", descriptor, not self._selection.include)
            while self._levels:
                level = self._levels[-1]
                name = next(level.names, None)
                if name is None:
                    yield from self._leave()
                elif name.endswith(b"/"):
                    yield from self._visit_directory(level, name)
                else:
                    outcome = self._judge(level, name)
                    if outcome is not None:
                        yield outcome
        finally:
            for level in self._levels:
                _close(level)

    def _visit_directory(self, level: _Level, name: bytes) -> Iterator[Outcome]:
        # What we write ourselves between two runs must not make their reports differ, so it is passed over unnamed.
        if name[:-1] == OWN_DIRECTORY and not self._path:
            return
        path = self._path + name
        reason = self._directory_refused(level, name[:-1], path)
        if reason:
            yield Excluded(path[:-1], reason)
        elif len(path) > LONGEST_PATH:
            yield NotChecked(path[:-1], TOO_DEEP)
        else:
            try:
                descriptor = os.open(name[:-1], _DIRECTORY, dir_fd=level.descriptor)
            except OSError as error:
                yield NotChecked(path[:-1], reason_of(error))
            else:
                included = level.included or self._selection.includes(path)
                yield from self._enter(name, descriptor, included)

    def _enter(self, name: bytes, descriptor: int, included: bool) -> Iterator[Outcome]:
        above = self._levels[-1].rules if self._levels else None
        facts = os.fstat(descriptor)
        level = _Level(name, descriptor, (facts.st_dev, facts.st_ino), included, above)
        self._levels.append(level)
        self._path += name
        if len(self._levels) > OPEN_DIRECTORIES:
            _close(self._levels[-1 - OPEN_DIRECTORIES])
        try:
            listing = _list(descriptor, self._selection)
        except OSError as error:
            yield NotChecked(self._path[:-1] or b".", reason_of(error))
            return
        if listing.ignore_files:
            level.rules = Rules(_read_globs(descriptor, listing.ignore_files), len(self._path), above)
        level.names, level.links, level.special = iter(listing.names), listing.links, listing.special

    def _leave(self) -> Iterator[Outcome]:
        level = self._levels.pop()
        self._path = self._path[: len(self._path) - len(level.name)]
        above = self._levels[-1] if self._levels else None
        if above and above.descriptor == _CLOSED:
            lost = _reopen(above, level.descriptor)
            if lost:
                above.names = iter(())
                yield NotChecked(self._path[:-1] or b".", lost)
        _close(level)

    def _judge(self, level: _Level, name: bytes) -> Outcome | None:
        path = self._path + name
        reason = self._file_refused(level, path)
        if reason:
            return LeftOut(reason)
        if name in level.links:
            return self._judge_link(name, path)
        if name in level.special:
            return NotChecked(path, level.special[name])
        return Found(path, level.descriptor, name)

    def _judge_link(self, name: bytes, path: bytes) -> Outcome | None:
        if name in self._selection.exclude_dirs:
            return Excluded(path, EXCLUDED_DIRECTORY)
        return judge_link(self._root, path, self._selection)

    def _directory_refused(self, level: _Level, name: bytes, path: bytes) -> str | None:
        if name in self._selection.exclude_dirs:
            return EXCLUDED_DIRECTORY
        if self._selection.excludes(path):
            return EXCLUDED
        return ignored_by(level.rules, path)

    def _file_refused(self, level: _Level, path: bytes) -> str | None:
        if self._selection.excludes(path):
            return EXCLUDED
        if not level.included and not self._selection.includes(path):
            return NOT_INCLUDED
        return ignored_by(level.rules, path) if level.rules else None


def _list(descriptor: int, selection: Selection) -> _Listing:
    listing = _Listing()
    with os.scandir(descriptor) as entries:
        for entry in entries:
            _add(listing, entry, selection)
    listing.names.sort()
    return listing


def _add(listing: _Listing, entry: os.DirEntry[str], selection: Selection) -> None:
    name = os.fsencode(entry.name)
    if entry.is_dir(follow_symlinks=False):
        listing.names.append(name + b"/")
    elif entry.is_symlink():
        listing.links.add(name)
        listing.names.append(name)
    elif selection.is_source(name):
        if not entry.is_file(follow_symlinks=False):
            listing.special[name] = _describe(entry)
        listing.names.append(name)
    elif selection.use_ignore_files and entry.name in IGNORE_FILES:
        listing.ignore_files.add(entry.name)


def _describe(entry: os.DirEntry[str]) -> str:
    try:
        return not_regular(entry.stat(follow_symlinks=False).st_mode)
    except OSError as error:
        return reason_of(error)


def _read_globs(descriptor: int, present: set[str]) -> Globs:
    names = [name for name in IGNORE_FILES if name in present]
    contents = [(name, read_file(descriptor, name.encode(), LONGEST_FILE)) for name in names]
    return Globs(
        line
        for name, content in contents
        for line in ignore_lines(name, content if isinstance(content, bytes) else None)
    )


def _reopen(level: _Level, below: int) -> str | None:
    """Return why it cannot be opened again, if so."""
    if below == _CLOSED:
        return MOVED
    try:
        descriptor = os.open(b"..", _DIRECTORY, dir_fd=below)
    except OSError as error:
        return reason_of(error)
    facts = os.fstat(descriptor)
    if (facts.st_dev, facts.st_ino) != level.identity:
        os.close(descriptor)
        return MOVED
    level.descriptor = descriptor
    return None


def _close(level: _Level) -> None:
    if level.descriptor != _CLOSED:
        os.close(level.descriptor)
        level.descriptor = _CLOSED
