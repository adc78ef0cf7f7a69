"""The selection of files in a tree."""

import errno
import os
import stat
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from jarvis_workers.snapshots.entries import LeftOut, NotChecked
from jarvis_workers.snapshots.ignore import (
    EXCLUDED,
    LINK_BROKEN,
    LINK_LOOP,
    LINK_OUT,
    LINK_TO_NO_SOURCE,
    LINK_TO_OWN,
    LINK_WITHIN_THE_TREE,
    LONGEST_FILE,
    NOT_INCLUDED,
    Globs,
    IgnorePattern,
    ignore_lines,
    not_regular,
    reason_of,
)
from jarvis_workers.snapshots.safe_read import read_file
from jarvis_workers.snapshots.unchanged_since import Unchanged
from jarvis_workers.source.languages import is_other_code, without_template

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
        made = without_template(name)
        dot = made.rfind(b".")
        return dot > 0 and (made[dot:] in self.suffixes or made[dot:].lower() in self.suffixes)

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


# The files of the commit that is checked out, to which the files of a tree are compared while they are packed.


@dataclass
class CommittedFiles:
    """Hashes of the committed sources below a directory by path; files in `submodules` belong to other commits."""

    directory: Path
    blobs: dict[bytes, str] = field(default_factory=dict)
    submodules: list[bytes] = field(default_factory=list)
    unreadable: bool = False
    differs: bool = False
    _seen: set[bytes] = field(default_factory=set)

    def compare(self, path: bytes, content: bytes) -> None:
        """Compare a file of the tree with the commit."""
        if self.differs or self.unreadable:
            return
        self._seen.add(path)
        is_ours = not path.startswith(tuple(self.submodules))
        self.differs = is_ours and not Unchanged("", self.blobs).holds(path, content)

    def is_dirty(self, selection: Selection) -> bool | None:
        """Return whether the tree differs from the commit, also by a deleted file; None if that is not known."""
        if self.unreadable:
            return None
        missing = (path for path in self.blobs.keys() - self._seen if selection.covers(path))
        return self.differs or any(not os.path.lexists(self.directory / os.fsdecode(path)) for path in missing)


# List one open directory: sources, subdirectories, links, special files and the ignore files that apply below it.


@dataclass(slots=True)
class Listing:
    """The entries of a directory.

    `names` are sorted, and those of directories end with a slash; `links` are symbolic links; `special` maps names to
    the reason why they cannot be read; `ignore_files` are the ignore files present, `others` what is no source, if the
    selection follows includes.
    """

    names: list[bytes] = field(default_factory=list)
    links: set[bytes] = field(default_factory=set)
    special: dict[bytes, str] = field(default_factory=dict)
    ignore_files: set[str] = field(default_factory=set)
    is_repository: bool = False
    others: list[bytes] = field(default_factory=list)


def list_directory(descriptor: int, selection: Selection) -> Listing:
    """List all entries that the selection may include; raises OSError."""
    listing = Listing()
    with os.scandir(descriptor) as entries:
        for entry in entries:
            _add(listing, entry, selection)
    listing.names.sort()
    return listing


def list_passage(descriptor: int) -> Listing:
    """Return the listing of a directory that only leads to selected paths: only `is_repository` is set."""
    try:
        os.stat(".git", dir_fd=descriptor, follow_symlinks=False)
    except OSError:
        return Listing()
    return Listing(is_repository=True)


def _add(listing: Listing, entry: os.DirEntry[str], selection: Selection) -> None:
    name = os.fsencode(entry.name)
    listing.is_repository |= name == b".git"
    if entry.is_dir(follow_symlinks=False):
        listing.names.append(name + b"/")
        return
    is_source = selection.is_source(name)
    if entry.is_symlink():
        listing.links.add(name)
        listing.names.append(name)
        return
    if selection.follow_includes and not is_source:
        listing.others.append(name)
        if is_other_code(name):
            listing.names.append(name)
    if is_source:
        if not entry.is_file(follow_symlinks=False):
            listing.special[name] = _kind_of(entry)
        listing.names.append(name)
    elif entry.name in selection.ignore_files:
        listing.ignore_files.add(entry.name)


def add_named(listing: Listing, descriptor: int, names: Collection[bytes]) -> None:
    """Add the selected `names` that exist, keeping the order sorted."""
    missing = set(names).difference(listing.names, (name.removesuffix(b"/") for name in listing.names)) if names else ()
    for name in missing:
        try:
            mode = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
        except OSError as error:
            if error.errno != errno.ENOENT:
                listing.special[name] = reason_of(error)
                listing.names.append(name)
            continue
        listing.names.append(name + b"/" if stat.S_ISDIR(mode) else name)
        if stat.S_ISLNK(mode):
            listing.links.add(name)
        elif not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            listing.special[name] = not_regular(mode)
    if missing:
        listing.names.sort()


def _kind_of(entry: os.DirEntry[str]) -> str:
    try:
        return not_regular(entry.stat(follow_symlinks=False).st_mode)
    except OSError as error:
        return reason_of(error)


def read_globs(descriptor: int, present: set[str]) -> Globs:
    """Read the ignore files of a directory that are `present`, in order of increasing precedence."""
    names = [name for name in IGNORE_FILES if name in present]
    contents = [(name, read_file(descriptor, name.encode(), LONGEST_FILE)) for name in names]
    return Globs(
        line
        for name, content in contents
        for line in ignore_lines(name, content if isinstance(content, bytes) else None)
    )


# Classify symbolic links: none is followed, and every link that could hide source is reported.


def judge_link(root: bytes, path: bytes, selection: Selection) -> LeftOut | NotChecked | None:
    """Classify the link at `path`, relative to the real path `root`; return None if it cannot hide source."""
    is_source = selection.selects(path)
    above = root.rstrip(b"/") + b"/"
    try:
        target = os.path.realpath(above + path, strict=True)
        mode = os.lstat(target).st_mode
    except OSError as error:
        return _judge_dangling(path, error, is_source)
    if target != root and not (target.startswith(above) and selection.covers(target[len(above) :])):
        return NotChecked(path, LINK_OUT)
    hides = _hides(target[len(above) :], mode, selection) if is_source and not stat.S_ISDIR(mode) else None
    return NotChecked(path, hides) if hides else LeftOut(LINK_WITHIN_THE_TREE)


def _hides(target: bytes, mode: int, selection: Selection) -> str | None:
    """Return why the target of a link with a source suffix is not scanned elsewhere, or None if it is."""
    *directories, _ = target.split(b"/")
    if directories[:1] == [OWN_DIRECTORY]:
        return LINK_TO_OWN
    if selection.selects(target) or _lies_in_an_excluded_one(directories, selection):
        return None
    return LINK_TO_NO_SOURCE if stat.S_ISREG(mode) else f"symbolic link: {not_regular(mode)}"


def _lies_in_an_excluded_one(directories: list[bytes], selection: Selection) -> bool:
    return any(
        name in selection.exclude_dirs or selection.excludes(b"/".join([*directories[:depth], name, b""]))
        for depth, name in enumerate(directories)
    )


def _judge_dangling(path: bytes, error: OSError, is_source: bool) -> NotChecked | None:
    if error.errno == errno.ELOOP:
        return NotChecked(path, LINK_LOOP)
    if error.errno not in (errno.ENOENT, errno.ENOTDIR):
        return NotChecked(path, f"symbolic link: {reason_of(error)}")
    return NotChecked(path, LINK_BROKEN) if is_source else None
