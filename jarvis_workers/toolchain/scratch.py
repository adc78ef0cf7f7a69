"""Measure and remove scratch directories of untrusted commands, even deeply nested or inaccessible ones."""

import itertools
import os
import stat
from collections.abc import Iterator
from contextlib import suppress

BLOCK_BYTES = 512
ENTRY_BYTES = 4096
TOO_MUCH = 1 << 62


def size_of(directory: str, enough: int = TOO_MUCH) -> int:
    """Return the bytes on disk, counting at least one block per entry; TOO_MUCH for a tree too deep to measure.

    Measuring stops as soon as the total exceeds `enough`.
    """
    total, open_directories = 0, [directory]
    while open_directories and total <= enough:
        try:
            with os.scandir(_opened(open_directories.pop())) as entries:
                for entry in entries:
                    total += max(ENTRY_BYTES, entry.stat(follow_symlinks=False).st_blocks * BLOCK_BYTES)
                    if entry.is_dir(follow_symlinks=False):
                        open_directories.append(entry.path)
        except FileNotFoundError:
            continue
        except OSError:
            return TOO_MUCH
    return total


def remove(directory: str) -> None:
    """Remove a directory that is no longer in use; nested directories are first moved up, so that paths stay short."""
    fresh = (f".removed.{os.getpid()}.{number}" for number in itertools.count())
    try:
        top = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        while names := os.listdir(top):
            for name in names:
                _take_out(top, name, fresh)
    finally:
        os.close(top)
    os.rmdir(directory)


def _take_out(top: int, name: str, fresh: Iterator[str]) -> None:
    if not stat.S_ISDIR(os.stat(name, dir_fd=top, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=top)
        return
    os.chmod(name, stat.S_IRWXU, dir_fd=top)
    place = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
    try:
        for inner in os.listdir(place):
            if stat.S_ISDIR(os.stat(inner, dir_fd=place, follow_symlinks=False).st_mode):
                os.chmod(inner, stat.S_IRWXU, dir_fd=place)
                os.rename(inner, next(fresh), src_dir_fd=place, dst_dir_fd=top)
            else:
                os.unlink(inner, dir_fd=place)
    finally:
        os.close(place)
    os.rmdir(name, dir_fd=top)


def _opened(directory: str) -> str:
    """Restore the owner's permissions on a directory."""
    with suppress(PermissionError):
        if os.stat(directory, follow_symlinks=False).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(directory, stat.S_IRWXU)
    return directory
