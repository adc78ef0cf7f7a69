"""Stream the tree of a commit, and check its size before any of it is checked out.

A tree of 40^5 files fits into six objects of a few hundred bytes, so the size of a repository does not bound the size
of its checkout. The listing is streamed, and git needs memory only in proportion to the depth of the tree.
"""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.toolchain.gitstream import GitStream

WAIT_SECONDS = 120.0
MEGABYTE = 1_000_000
HASH_LENGTH = 12
# Longer paths cannot be checked out (PATH_MAX), so the listing stops at the first such path.
MAX_ENTRY_BYTES = 4_300
REMEDY = "scan a directory of a clone, or raise {setting}"


class TreeBounds(NamedTuple):
    """Upper bounds for the tree of a revision: number of files and total size in bytes, which a setting limits.

    The defaults allow for Linux (90,000 files, 1.5 GB), Chromium (500,000 files, 5 GB) and larger monorepos.
    """

    files: int = 2_000_000
    bytes: int = 50_000 * MEGABYTE
    bytes_setting: str = "scan.git_max_mb"


class TreeEntry(NamedTuple):
    """An entry of `git ls-tree -r`; `size` is 0 for submodules and if sizes were not requested."""

    mode: bytes
    hash: str
    size: int
    path: bytes


def check_bounds(place: Path, commit: str, bounds: TreeBounds, environ: Mapping[str, str]) -> None:
    """Raise UsageError if the tree of a commit exceeds its bounds or the free space on the disk of `place`.

    The files are counted first, because counting does not read the objects.
    """
    check_count(place, commit, bounds, environ)
    free = shutil.disk_usage(place).free
    total = 0
    for entry in list_tree(place, commit, bounds, environ, sizes=True):
        total += entry.size
        if total > bounds.bytes:
            raise UsageError(_beyond(commit, f"{bounds.bytes // MEGABYTE:,} MB", bounds.bytes_setting))
        if total > free:
            raise UsageError(
                f"git: the tree of {commit[:HASH_LENGTH]} has more than the {free // MEGABYTE:,} MB that are free in "
                f"{place}; set TMPDIR to a larger disk"
            )


def check_count(place: Path, commit: str, bounds: TreeBounds, environ: Mapping[str, str]) -> None:
    """Raise UsageError if the tree of a commit has too many files."""
    for _ in _lines(place, commit, bounds, environ):
        pass


def list_tree(
    place: Path, commit: str, bounds: TreeBounds, environ: Mapping[str, str], *, sizes: bool = False
) -> Iterator[TreeEntry]:
    """Yield the files of a commit, with paths from the top. Raises UsageError if there are too many files."""
    for lines in _lines(place, commit, bounds, environ, *(["-l"] if sizes else [])):
        yield from map(_entry, lines)


def _lines(
    place: Path, commit: str, bounds: TreeBounds, environ: Mapping[str, str], *options: str
) -> Iterator[list[bytes]]:
    command = ["-C", str(place), "ls-tree", "-r", "-z", "--full-tree", *options, commit]
    count, rest = 0, b""
    with GitStream(command, environ, seconds=WAIT_SECONDS) as stream:
        while piece := stream.read():
            *lines, rest = (rest + piece).split(b"\0")
            count += len(lines)
            if count > bounds.files:
                raise UsageError(_beyond(commit, f"{bounds.files:,} files", "scan.git_max_files"))
            if len(rest) > MAX_ENTRY_BYTES:
                raise UsageError(f"git: the tree of {commit[:HASH_LENGTH]} has a path that file systems do not support")
            yield lines


def _entry(line: bytes) -> TreeEntry:
    facts, _, path = line.partition(b"\t")
    mode, _, name, *size = facts.split()
    return TreeEntry(mode, name.decode(), int(size[0]) if size and size[0].isdigit() else 0, path)


def _beyond(commit: str, bound: str, setting: str) -> str:
    return f"git: the tree of {commit[:HASH_LENGTH]} has more than {bound}; {REMEDY.format(setting=setting)}"
