"""Walk a source tree in the order of its path bytes, and decide for each entry whether it is scanned.

Directories are opened relative to their parent and links are never followed, so that a concurrent rename cannot lead
the walk out of the root. Only the OPEN_DIRECTORIES deepest directories stay open: a higher one is reopened through
`..`, and must still be the same directory.
"""

import os
import stat
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import SnapshotError, UsageError
from jarvis_workers.snapshots.entries import Excluded, FileFound, LeftOut, NotChecked, OtherCode, OtherFiles, Outcome
from jarvis_workers.snapshots.ignore import (
    EXCLUDED,
    EXCLUDED_DIRECTORY,
    LINK_LOOP,
    MOVED,
    NOT_INCLUDED,
    NOT_SOURCE,
    TOO_DEEP,
    IgnoreRules,
    ignored_by,
    ignored_by_file,
    not_regular,
    reason_of,
)
from jarvis_workers.snapshots.include_closure import IncludeClosure
from jarvis_workers.snapshots.safe_read import read_file
from jarvis_workers.snapshots.selection import (
    GIT_IGNORE,
    OWN_DIRECTORY,
    Listing,
    Selection,
    add_named,
    judge_link,
    list_directory,
    list_passage,
    read_globs,
)
from jarvis_workers.toolchain.gitindex import TrackedFiles, in_working_tree

OPEN_DIRECTORIES = 64
LONGEST_PATH = 65_536
MAX_NESTED_REPOSITORIES = 32
MAX_REPOSITORIES = 10_000
BY_GITIGNORE = ignored_by_file(GIT_IGNORE)
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CLOSED = -1


def walk(root: Path, selection: Selection, environ: Mapping[str, str] = os.environ) -> Generator[Outcome, None, None]:
    """Yield the outcome of each file and directory below `root`, which may be a single file.

    `environ` is for git, which lists the tracked files if a .gitignore excludes something. If the selection has
    `paths`, only these are walked; missing ones are skipped.

    Raises UsageError if the tree does not exist, SnapshotError if it cannot be opened.
    """
    try:
        real = root.resolve()
        mode = real.stat().st_mode
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise UsageError(f"{root}: {not_regular(mode)}; give a directory or a file")
        descriptor = os.open(real if stat.S_ISDIR(mode) else real.parent, _DIRECTORY)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"{root}: no such file or directory") from error
    except (OSError, RuntimeError) as error:  # resolve() raises RuntimeError for a symbolic link loop
        raise SnapshotError(f"{root}: {reason_of(error) if isinstance(error, OSError) else LINK_LOOP}") from error
    if stat.S_ISDIR(mode):
        yield from _TreeWalk(real, selection, environ).run(descriptor)
    else:
        yield from _walk_file(root, os.fsencode(real.name), descriptor, selection)


def _walk_file(root: Path, name: bytes, directory: int, selection: Selection) -> Iterator[Outcome]:
    try:
        path = os.fsencode(root.name)
        if selection.is_source(path):
            yield FileFound(path, directory, name)
    finally:
        os.close(directory)


@dataclass(slots=True)
class _Level:
    """An open directory; the names are sorted, and those of directories end with a slash.

    `ignored` is the reason why only tracked files of the directory are read. A directory that is not `within` the
    selected paths only leads to them: none of its other entries is read.
    """

    name: bytes
    descriptor: int
    identity: tuple[int, int]
    included: bool
    within: bool
    rules: IgnoreRules | None
    ignored: str | None = None
    repository: "_Repository | None" = None
    names: Iterator[bytes] = field(default_factory=lambda: iter(()))
    listing: Listing = field(default_factory=Listing)


class _Repository(NamedTuple):
    """The tracked files of the innermost repository, and the length of the path to it."""

    tracked: TrackedFiles
    length: int

    def tracks(self, path: bytes) -> bool:
        return self.tracked.holds(path[self.length :])


class _Entry(NamedTuple):
    """The data needed to enter a directory (see `_Level`)."""

    included: bool
    within: bool
    ignored: str | None = None


class _TreeWalk:
    def __init__(self, root: Path, selection: Selection, environ: Mapping[str, str]) -> None:
        self._root = os.fsencode(root)
        self._selection = selection
        self._environ = environ
        self._reads_gitignore = GIT_IGNORE in selection.ignore_files
        self._repositories = self._nested = 0
        self._levels: list[_Level] = []
        self._path = b""

    def run(self, descriptor: int) -> Iterator[Outcome]:
        try:
            whole = self._selection.is_whole
            yield from self._enter(b"", descriptor, _Entry(not self._selection.include, whole))
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
            while self._levels:
                self._close_level(self._levels.pop())

    def _visit_directory(self, level: _Level, name: bytes) -> Iterator[Outcome]:
        # Our own files change between two runs; even their names would make reports differ.
        if name[:-1] == OWN_DIRECTORY and not self._path:
            return
        path = self._path + name
        reason = self._directory_refused(level, name[:-1], path)
        if reason:
            yield Excluded(path[:-1], reason)
        if reason and (reason == EXCLUDED or path[:-1] not in self._selection.steps):
            return
        if len(path) > LONGEST_PATH:
            yield NotChecked(path[:-1], TOO_DEEP)
        else:
            try:
                descriptor = os.open(name[:-1], _DIRECTORY, dir_fd=level.descriptor)
            except OSError as error:
                yield NotChecked(path[:-1], reason_of(error))
            else:
                included = level.included or self._selection.includes(path)
                within = not reason and (level.within or path[:-1] in self._selection.named)
                ignored = level.ignored or (ignored_by(level.rules, path) if level.repository else None)
                yield from self._enter(name, descriptor, _Entry(included, within, ignored))

    def _enter(self, name: bytes, descriptor: int, entry: "_Entry") -> Iterator[Outcome]:
        above = self._levels[-1] if self._levels else None
        rules, repository = (above.rules, above.repository) if above else (None, None)
        ignored = entry.ignored
        if (self._path + name)[:-1] in self._selection.named:
            rules, ignored = None, None
        facts = os.fstat(descriptor)
        identity = (facts.st_dev, facts.st_ino)
        level = _Level(name, descriptor, identity, entry.included, entry.within, rules, ignored, repository)
        self._levels.append(level)
        self._path += name
        if len(self._levels) > OPEN_DIRECTORIES:
            _close(self._levels[-1 - OPEN_DIRECTORIES])
        try:
            listing = list_directory(descriptor, self._selection) if entry.within else list_passage(descriptor)
        except OSError as error:
            yield NotChecked(self._path[:-1] or b".", reason_of(error))
            return
        add_named(listing, descriptor, self._selection.steps.get(self._path[:-1], ()))
        add_named(listing, descriptor, self._selection.reached_in.get(self._path[:-1], ()))
        if self._selection.follow_includes and (listing.others or listing.links):
            yield OtherFiles(self._path, tuple(listing.others), tuple(listing.links))
        if self._reads_gitignore and self._is_repository(listing):
            self._enter_repository(level)
        if listing.ignore_files:
            globs = read_globs(descriptor, listing.ignore_files)
            for_tracked = read_globs(descriptor, listing.ignore_files - {GIT_IGNORE})
            level.rules = IgnoreRules(globs, for_tracked, len(self._path), rules)
        level.names, level.listing = iter(listing.names), listing

    def _is_repository(self, listing: Listing) -> bool:
        return listing.is_repository or (not self._path and in_working_tree(Path(os.fsdecode(self._root))))

    def _enter_repository(self, level: _Level) -> None:
        """Open the git index of another repository; beyond the limits all files count as tracked."""
        self._repositories += 1
        self._nested += 1
        beyond = self._repositories > MAX_REPOSITORIES or self._nested > MAX_NESTED_REPOSITORIES
        place = Path(os.fsdecode(os.path.join(self._root, self._path)))  # noqa: PTH118  (bytes)
        level.repository = _Repository(TrackedFiles(place, self._environ, readable=not beyond), len(self._path))
        level.ignored = None

    def _leave(self) -> Iterator[Outcome]:
        level = self._levels.pop()
        self._path = self._path[: len(self._path) - len(level.name)]
        above = self._levels[-1] if self._levels else None
        if above and above.descriptor == _CLOSED:
            lost = _reopen(above, level.descriptor)
            if lost:
                above.names = iter(())
                yield NotChecked(self._path[:-1] or b".", lost)
        self._close_level(level)

    def _close_level(self, level: _Level) -> None:
        above = self._levels[-1].repository if self._levels else None
        if level.repository is not None and level.repository is not above:
            level.repository.tracked.close()
            self._nested -= 1
        _close(level)

    def _judge(self, level: _Level, name: bytes) -> Outcome | None:
        path = self._path + name
        reason = self._file_refused(level, path)
        if reason:
            return LeftOut(reason)
        if name in level.listing.links:
            return self._judge_link(name, path)
        if name in level.listing.special:
            return NotChecked(path, level.listing.special[name])
        if not self._selection.selects(path):
            return LeftOut(NOT_SOURCE) if path in self._selection.named else OtherCode(path)
        return FileFound(path, level.descriptor, name)

    def _judge_link(self, name: bytes, path: bytes) -> Outcome | None:
        if name in self._selection.exclude_dirs:
            return Excluded(path, EXCLUDED_DIRECTORY)
        return judge_link(self._root, path, self._selection)

    def _directory_refused(self, level: _Level, name: bytes, path: bytes) -> str | None:
        """Return why a directory is not entered; selected ones and their parents are subject to --exclude only."""
        is_forced = path[:-1] in self._selection.named or not level.within
        if name in self._selection.exclude_dirs and not is_forced:
            return EXCLUDED_DIRECTORY
        if self._selection.excludes(path):
            return EXCLUDED
        return None if is_forced else self._ignored(level, path)

    def _file_refused(self, level: _Level, path: bytes) -> str | None:
        if self._selection.excludes(path):
            return EXCLUDED
        if not level.included and not self._selection.includes(path):
            return NOT_INCLUDED
        is_forced = path in self._selection.named
        return self._ignored(level, path) if level.rules and not is_forced else None

    def _ignored(self, level: _Level, path: bytes) -> str | None:
        reason = level.ignored or ignored_by(level.rules, path)
        if reason == BY_GITIGNORE and level.repository and level.repository.tracks(path):
            return ignored_by(level.rules, path, tracked=True)
        return reason


def _reopen(level: _Level, below: int) -> str | None:
    """Reopen a directory through the one below it; return the reason for a failure, or None."""
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


# The files of a tree that are scanned because sources include them, without packing the tree.


def included_files(root: Path, selection: Selection) -> frozenset[bytes]:
    """Return the files without a source suffix that a scan of `root` adds; none if it does not follow includes."""
    if not selection.follow_includes:
        return frozenset()
    closure = IncludeClosure(selection)
    for outcome in walk(root, selection):
        match outcome:
            case FileFound(path, directory, name):
                content = read_file(directory, name, selection.max_file_bytes)
                closure.add_source(path, content if isinstance(content, bytes) else b"")
            case OtherFiles():
                closure.add_others(outcome)
            case OtherCode(path):
                closure.other_code.add(path)
            case Excluded(path, _):
                closure.add_excluded(path)
    reached = closure.paths(root, os.read)
    only = replace(selection, suffixes=frozenset(), follow_includes=False, reached=reached)
    return frozenset(one.path for one in walk(root, only) if isinstance(one, FileFound)) & reached
