"""List one open directory: sources, subdirectories, links, special files and the ignore files that apply below it."""

import errno
import os
import stat
from collections.abc import Collection
from dataclasses import dataclass, field

from jarvis_workers.snapshots.exclusion_reasons import not_regular, reason_of
from jarvis_workers.snapshots.ignore import LONGEST_FILE, Globs, ignore_lines
from jarvis_workers.snapshots.safe_read import read_file
from jarvis_workers.snapshots.selection import IGNORE_FILES, Selection


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
