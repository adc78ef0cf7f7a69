"""Blobs in an object store, with a local cache of fetched ones."""

import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from jarvis_workers.errors import SnapshotDamaged, SnapshotError
from jarvis_workers.snapshots.blobs import MISSING, DirectoryBlobs, Stored
from jarvis_workers.snapshots.object_store import ObjectStore

# A cache of fetched blobs: a directory shared by the processes of this machine.


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


_CHUNK = 1 << 20


class RemoteBlobs:
    """Blobs at an fsspec URL."""

    def __init__(self, url: str, cache_dir: Path, cache_bytes: int) -> None:
        """Open the store. Raises SettingsError, as ObjectStore does."""
        self._objects = ObjectStore(url)
        self._cached = DirectoryBlobs(cache_dir)
        self._cache = BlobCache(self._cached, cache_bytes)

    def put(self, content: bytes) -> str:
        name = hashlib.sha256(content).hexdigest()
        with self._objects.reaching():
            self._objects.put(name, content)
        return name

    def put_chunks(self, chunks: Iterable[bytes]) -> str:
        name = self._cached.put_chunks(chunks)
        path = self._cached.path(name)
        with self._objects.reaching():
            self._objects.put(name, path)
        return name

    def has(self, name: str) -> bool:
        with self._objects.reaching():
            return self._objects.has(name)

    def read(self, name: str) -> bytes:
        with os.fdopen(self.open(name), "rb") as stream:
            content = stream.read()
        if hashlib.sha256(content).hexdigest() != name:
            self._cached.delete(name)
            raise SnapshotDamaged(f"{self._cached.root}: corrupt copy of blob {name} was removed; try again")
        return content

    def mark_damaged(self, name: str) -> None:
        """Remove the blob from the cache, so that it is fetched and verified again."""
        self._cached.delete(name)

    def responds(self) -> bool:
        with suppress(SnapshotError):
            self.has("0" * 64)
            return True
        return False

    def path(self, name: str) -> Path:
        os.close(self.open(name))
        return self._cached.path(name)

    def open(self, name: str) -> int:
        """Open the cached blob under a shared lock, which prevents eviction; fetch it first if necessary."""
        descriptor = self._cache.find(name)
        if descriptor is None:
            self._fetch(name)
            descriptor = self._cache.open(name)
            self._cache.evict()
        return descriptor

    def names(self) -> Iterator[Stored]:
        with self._objects.reaching():
            yield from (Stored(*facts) for facts in self._objects.listed())

    def delete(self, name: str, *, unless_wanted_since: float | None = None) -> bool:
        with self._objects.reaching():
            return self._objects.delete(name, unless_wanted_since)

    def sweep(self, before: float) -> None:
        self._cached.sweep(before)

    def check_access(self) -> None:
        content = b"written to see whether it can be: " + token_hex(16).encode()
        name = self.put(content)
        try:
            with self._objects.reaching(), self._objects.open(name) as stream:
                found = stream.read()
        finally:
            self.delete(name)
        if found != content:
            raise SnapshotError(f"{self._objects.shown}: a written blob cannot be read back")

    def _fetch(self, name: str) -> None:
        """Fetch a blob, again if it is damaged; if both copies are equal, the stored one is at fault and is deleted."""
        damaged = self._fetched(name)
        if damaged and damaged == self._fetched(name):
            with suppress(SnapshotError):  # without write permission, another process has to delete it
                self.delete(name)
            damaged = f"{damaged}; it was removed: submit the tree again"
        if damaged:
            raise SnapshotDamaged(damaged)

    def _fetched(self, name: str) -> str | None:
        """Fetch a blob into the cache; return the problem as text, or None."""
        with self._objects.reaching():
            try:
                stream = self._objects.open(name)
            except FileNotFoundError as error:
                raise SnapshotDamaged(f"{self._objects.shown}: blob {name} is {MISSING}") from error
            with stream:
                got = self._cached.put_chunks(iter(lambda: stream.read(_CHUNK), b""))
        if got != name:
            self._cached.delete(got)
            return f"{self._objects.shown}: blob {name} does not match its digest (actual digest: {got})"
        return None
