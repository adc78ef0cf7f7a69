"""The blobs that this machine has fetched: a directory that several processes share.

A blob that a process has open holds a shared lock, and what is locked is not evicted; the rest goes by when it was last
opened.
"""

import fcntl
import os
from contextlib import suppress

from jarvis_workers.errors import SnapshotDamaged
from jarvis_workers.snapshots.blobs import DirectoryBlobs

__all__ = ["BlobCache"]


class BlobCache:
    """At most about `max_bytes` of blobs in `directory`."""

    def __init__(self, directory: DirectoryBlobs, max_bytes: int) -> None:
        self.directory = directory
        self._max_bytes = max_bytes

    def find(self, name: str) -> int | None:
        """Open it as `open` does; None where it is not there."""
        if self.directory.has(name):
            with suppress(SnapshotDamaged):  # another process may evict it in between
                return self.open(name)
        return None

    def open(self, name: str) -> int:
        """Return a descriptor that the caller closes: until then no process evicts it. Raises SnapshotDamaged."""
        descriptor = self.directory.open(name)
        os.utime(descriptor)
        return descriptor

    def evict(self) -> None:
        """Remove what was opened longest ago, as far as there is too much."""
        stored = sorted(self.directory.names(), key=lambda blob: blob.wanted_at)
        excess = sum(blob.size for blob in stored) - self._max_bytes
        for blob in stored:
            if excess <= 0:
                break
            if _drop(self.directory, blob.name):
                excess -= blob.size


def _drop(cache: DirectoryBlobs, name: str) -> bool:
    """Return whether it went; what is open in any process stays."""
    try:
        descriptor = os.open(cache.path(name), os.O_RDONLY | os.O_CLOEXEC)
    except (SnapshotDamaged, FileNotFoundError):
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return cache.delete(name)
    finally:
        os.close(descriptor)
