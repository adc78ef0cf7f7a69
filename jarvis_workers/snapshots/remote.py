"""Keep blobs in an object store, and what was fetched in a cache of this machine.

The cache is a directory of blobs that several processes share.  A blob that a process has open holds a shared lock,
and what is locked is not evicted; the rest goes by when it was last opened.
"""

import fcntl
import hashlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import fsspec

from jarvis_workers.errors import SettingsError, SnapshotDamaged, SnapshotError, StoreError
from jarvis_workers.extras import advice, extra_of
from jarvis_workers.snapshots.blobs import MISSING, DirectoryBlobs, Stored
from jarvis_workers.snapshots.filecache import Results

CLIENT_ERRORS = (("botocore.exceptions", "BotoCoreError"), ("google.auth.exceptions", "GoogleAuthError"))
FRESH_SECONDS = 12 * 3600.0
_CHUNK = 1 << 20


class RemoteBlobs:
    """Blobs under a URL of fsspec."""

    results: Results | None = None
    patterns: Path | None = None

    def __init__(self, url: str, cache_dir: Path, cache_bytes: int) -> None:
        """Raise SettingsError for a URL that cannot be used here; it may hold a password, so only its path is shown."""
        scheme = url.partition("://")[0]
        try:
            self._files, self._root = _connect(url)
        except ImportError as error:
            raise SettingsError(f"blobs URL {scheme}://…: {_missing(error)}") from error
        except ValueError as error:
            raise SettingsError(f"blobs URL {scheme}://…: {error}") from error
        self._shown = f"{scheme}://{self._root.lstrip('/')}"
        self._cache = DirectoryBlobs(cache_dir)
        self._cache_bytes = cache_bytes

    def put(self, content: bytes) -> str:
        name = hashlib.sha256(content).hexdigest()
        with self._reaching(StoreError):
            if not self._is_fresh(name, len(content)):
                self._make_directory(name)
                self._files.pipe_file(self._place(name), content)
        return name

    def put_chunks(self, chunks: Iterable[bytes]) -> str:
        name = self._cache.put_chunks(chunks)
        path = self._cache.path(name)
        with self._reaching(StoreError):
            if not self._is_fresh(name, path.stat().st_size):
                self._make_directory(name)
                self._files.put_file(str(path), self._place(name))
        return name

    def has(self, name: str) -> bool:
        with self._reaching(SnapshotError):
            return bool(self._files.exists(self._place(name)))

    def read(self, name: str) -> bytes:
        with os.fdopen(self.open(name), "rb") as stream:
            content = stream.read()
        if hashlib.sha256(content).hexdigest() != name:
            self._cache.delete(name)
            raise SnapshotDamaged(f"{self._cache.root}: corrupt copy of blob {name} was removed; try again")
        return content

    def mark_damaged(self, name: str) -> None:
        """Fetch it again next time; what is damaged in the object store is found by fetching."""
        self._cache.delete(name)

    def path(self, name: str) -> Path:
        os.close(self.open(name))
        return self._cache.path(name)

    def open(self, name: str) -> int:
        """Keep it by a lock, so that no process evicts it; eviction follows only what was fetched."""
        if self._cache.has(name):
            with suppress(SnapshotDamaged):  # another process may evict it in between: then it is fetched again
                return self._opened(name)
        self._fetch(name)
        descriptor = self._opened(name)
        self._evict()
        return descriptor

    def names(self) -> Iterator[Stored]:
        with self._reaching(SnapshotError):
            for place, facts in self._files.find(self._root, detail=True).items():
                yield Stored(place.rsplit("/", 1)[-1], facts["size"], self._files.modified(place).timestamp())

    def delete(self, name: str, *, unless_wanted_since: float | None = None) -> bool:
        place = self._place(name)
        with self._reaching(StoreError):
            try:
                if unless_wanted_since is not None and self._modified(place) >= unless_wanted_since:
                    return False
                self._files.rm_file(place)
            except FileNotFoundError:
                pass
        return True

    def sweep(self, before: float) -> None:
        self._cache.sweep(before)

    def check_access(self) -> None:
        name = self.put(b"written to see whether it can be: " + token_hex(16).encode())
        found = self.has(name)
        self.delete(name)
        if not found:
            raise SnapshotError(f"{self._shown}: a written blob cannot be read back")

    def _opened(self, name: str) -> int:
        descriptor = self._cache.open(name)
        os.utime(descriptor)
        return descriptor

    def _place(self, name: str) -> str:
        return f"{self._root}/{name[:2]}/{name[2:4]}/{name}"

    def _make_directory(self, name: str) -> None:
        self._files.makedirs(self._files._parent(self._place(name)), exist_ok=True)

    def _modified(self, place: str) -> float:
        return float(self._files.modified(place).timestamp())

    def _is_fresh(self, name: str, size: int) -> bool:
        """Object stores touch nothing: what is not fresh is written again, so that pruning sees that it is wanted."""
        place = self._place(name)
        try:
            whole = self._files.info(place)["size"] == size
            return whole and self._modified(place) > time.time() - FRESH_SECONDS
        except FileNotFoundError:
            return False

    def _fetch(self, name: str) -> None:
        """Fetch it, twice if need be: what comes wrong twice in the same way is not wrong on its way here alone."""
        damaged = self._fetched(name)
        if damaged and damaged == self._fetched(name):
            with suppress(StoreError):  # without the right to write, it stays for whoever has it
                self.delete(name)
            damaged = f"{damaged}; it was removed: submit the tree again"
        if damaged:
            raise SnapshotDamaged(damaged)

    def _fetched(self, name: str) -> str | None:
        """Return what is wrong with what came."""
        with self._reaching(SnapshotError):
            try:
                stream = self._files.open(self._place(name), "rb")
            except FileNotFoundError as error:
                raise SnapshotDamaged(f"{self._shown}: blob {name} is {MISSING}") from error
            with stream:
                got = self._cache.put_chunks(iter(lambda: stream.read(_CHUNK), b""))
        if got != name:
            self._cache.delete(got)
            return f"{self._shown}: blob {name} does not match its digest (actual digest: {got})"
        return None

    def _evict(self) -> None:
        stored = sorted(self._cache.names(), key=lambda blob: blob.wanted_at)
        excess = sum(blob.size for blob in stored) - self._cache_bytes
        for blob in stored:
            if excess <= 0:
                break
            if _drop(self._cache, blob.name):
                excess -= blob.size

    @contextmanager
    def _reaching(self, family: type[StoreError] | type[SnapshotError]) -> Iterator[None]:
        try:
            yield
        except _access_errors() as error:
            raise family(f"{self._shown}: {' '.join(str(error).split()) or type(error).__name__}") from error


def _connect(url: str) -> tuple[Any, str]:
    files, root = fsspec.core.url_to_fs(url)
    return files, root.rstrip("/")


def _missing(error: ImportError) -> str:
    """Say what is not installed: fsspec's own words name no version, and no way to get it."""
    absent = getattr(error.__cause__, "name", None) or error.name
    extra = extra_of(absent) if absent else None
    return f"{absent} is not installed; {advice(extra)}" if extra else str(error)


def _access_errors() -> tuple[type[Exception], ...]:
    """Return OSError and those errors of the clients in use that are none, such as for missing credentials."""
    loaded = [(sys.modules[module], name) for module, name in CLIENT_ERRORS if module in sys.modules]
    return OSError, *(getattr(module, name) for module, name in loaded)


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
