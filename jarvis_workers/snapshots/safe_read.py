"""Read a file that other processes may write, replace or remove at the same time."""

import os
import stat
from collections.abc import Callable

from jarvis_workers.snapshots.ignore import CHANGING, not_regular, reason_of, too_large

ATTEMPTS = 3
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Read = Callable[[int, int], bytes]


def read_file(directory: int, name: bytes, limit: int, *, read: Read = os.read) -> bytes | str:
    """Return the content of a regular file that did not change during the read, or the reason why it is not checked.

    Links are not followed, and opening a pipe does not block.
    """
    try:
        descriptor = os.open(name, _FLAGS, dir_fd=directory)
    except OSError as error:
        return reason_of(error)
    try:
        return _read_steady(descriptor, limit, read)
    except OSError as error:
        return reason_of(error)
    finally:
        os.close(descriptor)


def _read_steady(descriptor: int, limit: int, read: Read) -> bytes | str:
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        return not_regular(before.st_mode)
    for _ in range(ATTEMPTS):
        if before.st_size > limit:
            return too_large(before.st_size, limit)
        content = _read_all(descriptor, before.st_size, read)
        after = os.fstat(descriptor)
        if len(content) == before.st_size == after.st_size and before.st_mtime_ns == after.st_mtime_ns:
            return content
        os.lseek(descriptor, 0, os.SEEK_SET)
        before = after
    return CHANGING


def _read_all(descriptor: int, size: int, read: Read) -> bytes:
    """Read up to one byte more than `size`, so that growth is detected."""
    content = read(descriptor, size + 1)
    while 0 < len(content) < size:
        more = read(descriptor, size + 1 - len(content))
        if not more:
            break
        content += more
    return content
