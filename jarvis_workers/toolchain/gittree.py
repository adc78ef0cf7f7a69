"""Read the tree of a commit in pieces, and bound it before anything is written.

A tree of 40^5 files fits into six objects of a few hundred bytes: the size of a repository does not bound what it
checks out to.  Listing is streamed: git needs memory for the depth of a tree only.
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
# A longer path cannot be checked out (PATH_MAX), so what lists more is not counted to its end.
MAX_ENTRY_BYTES = 4_300
REMEDY = "scan a directory of a clone, or raise {setting}"


class TreeBounds(NamedTuple):
    """What a revision may check out to: so many files, of so many bytes together.

    The defaults have room for Linux (90,000 files, 1.5 GB), Chromium (500,000, 5 GB) and larger monorepos.
    """

    files: int = 2_000_000
    bytes: int = 50_000 * MEGABYTE


class TreeEntry(NamedTuple):
    """A line of `git ls-tree -r`; `size` is 0 where it was not asked for, and of submodules."""

    mode: bytes
    hash: str
    size: int
    path: bytes


def check_bounds(place: Path, commit: str, bounds: TreeBounds, environ: Mapping[str, str]) -> None:
    """Raise UsageError when the tree of a commit is beyond its bounds, or has no room on the disk of `place`.

    The files are counted first: that needs no look at their objects.
    """
    check_count(place, commit, bounds, environ)
    free = shutil.disk_usage(place).free
    total = 0
    for entry in list_tree(place, commit, bounds, environ, sizes=True):
        total += entry.size
        if total > bounds.bytes:
            raise UsageError(_beyond(commit, f"{bounds.bytes // MEGABYTE:,} MB", "scan.git_max_mb"))
        if total > free:
            raise UsageError(
                f"git: the tree of {commit[:HASH_LENGTH]} has more than the {free // MEGABYTE:,} MB that are free in "
                f"{place}; set TMPDIR to a larger disk"
            )


def check_count(place: Path, commit: str, bounds: TreeBounds, environ: Mapping[str, str]) -> None:
    """Raise UsageError when the tree of a commit has too many files."""
    for _ in _lines(place, commit, bounds, environ):
        pass


def list_tree(
    place: Path, commit: str, bounds: TreeBounds, environ: Mapping[str, str], *, sizes: bool = False
) -> Iterator[TreeEntry]:
    """Yield the files of a commit, from the top. Raises UsageError beyond the bound on files."""
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
