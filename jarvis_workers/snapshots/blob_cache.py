"""A cache of fetched blobs: a directory shared by the processes of this machine.

An open blob is protected by a shared lock; unlocked blobs are evicted in order of last use.
"""

import fcntl
import os
from contextlib import suppress

from jarvis_workers.errors import SnapshotError
from jarvis_workers.snapshots.blobs import DirectoryBlobs


class BlobCache:
    """A cache in `directory`, limited to about `max_bytes`."""

    def __init__(self, directory: DirectoryBlobs, max_bytes: int) -> None:
        self.directory = directory
        self._max_bytes = max_bytes

    def find(self, name: str) -> int | None:
        """Open a blob as `open` does; return None if it is not cached."""
        if self.directory.has(name):
            with suppress(SnapshotError):  # another process may evict it in between
                return self.open(name)
        return None

    def open(self, name: str) -> int:
        """Return a descriptor, which the caller must close; an open blob is not evicted. Raises SnapshotDamaged."""
        descriptor = self.directory.open(name)
        with suppress(OSError):  # a cache that cannot be written still serves
            os.utime(descriptor)
        return descriptor

    def evict(self) -> None:
        """Remove the least recently used blobs until the cache is within its limit."""
        stored = sorted(self.directory.names(), key=lambda blob: blob.used_at)
        excess = sum(blob.size for blob in stored) - self._max_bytes
        for blob in stored:
            if excess <= 0:
                break
            if _drop(self.directory, blob.name):
                excess -= blob.size


def _drop(cache: DirectoryBlobs, name: str) -> bool:
    """Delete a blob unless it is open in any process; return whether it is gone."""
    try:
        descriptor = os.open(cache.path(name), os.O_RDONLY | os.O_CLOEXEC)
    except (SnapshotError, FileNotFoundError):
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return cache.delete(name)
    finally:
        os.close(descriptor)
