"""Ignore files in a checkout that are not those of a commit: a build step of the change may have written them."""

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from jarvis_workers.snapshots.selection import JARVIS_IGNORE, Selection
from jarvis_workers.toolchain import git
from jarvis_workers.toolchain.gittree import list_tree

# The ignore files of a commit, in sum.
COMPARED_BYTES = 16_000_000


def written_ignore_files(base: git.Borrowed, places: Sequence[Path], selection: Selection) -> Iterator[bytes]:
    """Yield the paths of ignore files below `places` that the base does not have so, and of those that are removed.

    The ignore files of submodules are not listed: they belong to other commits.
    """
    if JARVIS_IGNORE not in selection.ignore_files:
        return
    top = base.top.resolve()
    blobs, submodules = dict[bytes, bytes](), set[bytes]()
    for entry in list_tree(base.place, base.commit, base.bounds, base.environ):
        if entry.mode == git.SUBMODULE:
            submodules.add(entry.path)
        elif entry.path.rpartition(b"/")[2] == os.fsencode(JARVIS_IGNORE):
            blobs[entry.path] = entry.hash.encode()
    contents = git.contents(base, set(blobs.values()), COMPARED_BYTES) if blobs else {}
    for directory in _directories(top, places, submodules, selection.exclude_dirs):
        file = directory / JARVIS_IGNORE
        path = os.fsencode(file.relative_to(top))
        if (path in blobs or os.path.lexists(file)) and not _has(file, contents.get(blobs.get(path, b""))):
            yield path


def _directories(
    top: Path, places: Sequence[Path], submodules: Collection[bytes], excluded: Collection[bytes]
) -> Iterator[Path]:
    """Yield the directories that are scanned, within the top."""
    pruned = {os.fsdecode(name) for name in excluded} | {".git"}
    for place in places:
        for directory, below, _ in os.walk(place.resolve()):
            if not Path(directory).is_relative_to(top) or os.fsencode(Path(directory).relative_to(top)) in submodules:
                below.clear()
                continue
            below[:] = [name for name in below if name not in pruned]
            yield Path(directory)


def _has(file: Path, content: bytes | None) -> bool:
    """Return whether a file has a content; git may have written its newlines in another way."""
    if content is None or file.is_symlink() or not file.is_file() or file.stat().st_size > 2 * len(content):
        return False
    return file.read_bytes().splitlines() == content.splitlines()
