"""Content-addressed storage by SHA-256: the interface of all blob stores, and a store in a directory.

Writing an existing blob updates its time, so that it is not pruned. Nothing is synced: after a power failure a blob may
be truncated; the next `put` replaces it, and readers report it as damaged. A reader marks a damaged blob, so that the
next `put` replaces it; until then the undamaged files in it can still be read.

A blob that cannot be read is at fault itself only if another one can be read. Otherwise the directory is unavailable,
such as a network file system that is not mounted: BlobsUnavailable.
"""

import errno
import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol

from jarvis_workers.errors import BlobsUnavailable, SnapshotDamaged, SnapshotError, StoreError, StoreFull
from jarvis_workers.toolchain.exhaustion import HOST_ERRNOS

# Write blobs into a directory atomically: into a temporary file, which is then renamed.

FULL = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS})
TEMPORARY = "new-"
_CHUNK = 1 << 20


class BlobWriter:
    """Writes files below `root`. Raises StoreFull, or BlobsUnavailable for other errors of the file system."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, place: Path, content: bytes) -> None:
        """Write a file, creating its parent directories."""
        with self.checked(), self._temporary(place.parent) as (stream, temporary):
            _write_all(stream, content)
            temporary.rename(place)

    def write_chunks(self, chunks: Iterable[bytes], place_of: Callable[[str], Path]) -> str:
        """Write content of any size to the place given by its SHA-256; return the digest in hexadecimal."""
        digest = hashlib.sha256()
        with self._temporary(self._root) as (stream, temporary):
            for chunk in chunks:
                digest.update(chunk)
                with self.checked():
                    _write_all(stream, chunk)
            place = place_of(digest.hexdigest())
            with self.checked():
                place.parent.mkdir(parents=True, exist_ok=True)
                temporary.rename(place)
        return digest.hexdigest()

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Convert an OSError in the block to StoreFull or BlobsUnavailable."""
        try:
            yield
        except OSError as error:
            if error.errno in FULL:
                raise StoreFull(f"{self._root}: {error.strerror}; free some space, or set another blobs URL") from error
            raise BlobsUnavailable(f"{self._root}: cannot be written: {error.strerror or error}") from error

    @contextmanager
    def _temporary(self, directory: Path) -> Iterator[tuple[int, Path]]:
        with self.checked():
            directory.mkdir(parents=True, exist_ok=True)
            import tempfile  # noqa: PLC0415 - slow, and not needed by readers

            stream, name = tempfile.mkstemp(prefix=TEMPORARY, dir=directory)
        try:
            yield stream, Path(name)
        finally:
            os.close(stream)
            Path(name).unlink(missing_ok=True)


def _write_all(stream: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(stream, rest[:_CHUNK]) :]


MISSING = "missing; set JARVIS_BLOBS_URL to the value used at submission, or submit the tree again"
_NAME = re.compile(r"[0-9a-f]{64}")
# A mode bit that blobs do not have otherwise; it disappears when the file is replaced.
_DAMAGED = stat.S_IXUSR
# How many other blobs are read to tell a damaged blob from an unavailable directory, and their maximum size.
_PROBES = 8
_PROBE_BYTES = 4 << 20


class Stored(NamedTuple):
    """A stored blob: size in bytes, and time of the last write or use in seconds since 1970."""

    name: str
    size: int
    used_at: float


class Blobs(Protocol):
    """A blob store.

    All methods raise BlobsUnavailable if the store does not respond; `put` raises StoreFull; `read`, `path` and `open`
    raise SnapshotDamaged for a missing blob or one that does not match its name (`path` and `open` of a directory do
    not verify).
    """

    def __hash__(self) -> int: ...

    def put(self, content: bytes) -> str: ...

    def put_chunks(self, chunks: Iterable[bytes]) -> str:
        """Store content of any size, given in chunks; return its name."""

    def has(self, name: str) -> bool: ...

    def read(self, name: str) -> bytes: ...

    def mark_damaged(self, name: str) -> None:
        """Make the next `put` of this content write the blob again. Raises BlobsUnavailable if all are damaged."""

    def responds(self) -> bool:
        """Return whether the store can be reached, or has a blob that can be read."""

    def path(self, name: str) -> Path: ...

    def open(self, name: str) -> int:
        """Return a file descriptor, which the caller must close; an open blob is not evicted."""

    def names(self) -> Iterator[Stored]: ...

    def delete(self, name: str, *, unless_wanted_since: float | None = None) -> bool:
        """Delete a blob; return False if it was used since the given time."""

    def sweep(self, before: float) -> None:
        """Remove temporary files of interrupted writes that are older than `before`."""

    def check_access(self) -> None:
        """Write a test blob, read it and delete it. Raises StoreError or SnapshotError on failure."""


def read_range(blobs: Blobs, name: str, start: int, length: int) -> bytes:
    """Return a range of a blob, which the caller must verify. Raises SnapshotDamaged."""
    descriptor = blobs.open(name)
    try:
        return os.pread(descriptor, length, start)
    except OSError as error:
        raise unreadable(name, error) from error
    finally:
        os.close(descriptor)


def unreadable(name: str, error: OSError) -> BlobsUnavailable:
    """Return the error for a blob that was opened, and can no longer be read: its disk or server fails."""
    return BlobsUnavailable(f"blob {name} cannot be read: {error.strerror or error}")


class DirectoryBlobs:
    """Blobs in two levels of directories; safe for several processes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._writer = BlobWriter(root)
        self._has_blobs = False

    def put(self, content: bytes) -> str:
        name = hashlib.sha256(content).hexdigest()
        if not _touch(self._place(name), len(content)):
            self._expect_blobs()
            self._writer.write(self._place(name), content)
        self._has_blobs = True
        return name

    def put_chunks(self, chunks: Iterable[bytes]) -> str:
        return self._writer.write_chunks(chunks, self._place)

    def has(self, name: str) -> bool:
        return self._place(name).exists()

    def read(self, name: str) -> bytes:
        place = self._place(name)
        try:
            content = place.read_bytes()
        except OSError as error:
            raise _read_error(self.root, place, error) from error
        if hashlib.sha256(content).hexdigest() != name:
            self.mark_damaged(name)
            raise SnapshotDamaged(
                f"{place}: corrupt: the content does not match its digest; submit the tree again to replace it"
            )
        self._has_blobs = True
        return content

    def mark_damaged(self, name: str) -> None:
        place = self._place(name)
        if (others := _probe(self.root, name)) and not any(others):
            raise BlobsUnavailable(f"{self.root}: all blobs are corrupt: the content does not match their digests")
        with suppress(OSError):  # no mark without write permission; the report asks users to submit again
            place.chmod(place.stat().st_mode | _DAMAGED)

    def path(self, name: str) -> Path:
        place = self._place(name)
        if not place.exists():
            raise _read_error(self.root, place, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
        return place

    def open(self, name: str) -> int:
        place = self._place(name)
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise _read_error(self.root, place, error) from error
        self._has_blobs = True
        with suppress(OSError):  # without file locks: a file that is unlinked while open stays readable
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return descriptor

    def responds(self) -> bool:
        return any(_probe(self.root))

    def names(self) -> Iterator[Stored]:
        for place in self.root.glob("??/??/*"):
            if _NAME.fullmatch(place.name):
                with suppress(FileNotFoundError):
                    facts = place.stat()
                    yield Stored(place.name, facts.st_size, facts.st_mtime)

    def delete(self, name: str, *, unless_wanted_since: float | None = None) -> bool:
        """Rename the blob before checking its time: a concurrent `put` either updates the time or rewrites the blob."""
        place = self._place(name)
        aside = place.with_name(f"{TEMPORARY}{name}")
        with self._writer.checked():
            try:
                place.rename(aside)
            except FileNotFoundError:
                return True
            if unless_wanted_since is not None and aside.stat().st_mtime >= unless_wanted_since:
                aside.rename(place)
                return False
            aside.unlink()
        return True

    def check_access(self) -> None:
        import tempfile  # noqa: PLC0415 - slow, and not needed by readers

        nearest = next(folder for folder in (self.root, *self.root.absolute().parents) if folder.exists())
        try:
            with tempfile.TemporaryFile(dir=nearest) as probe:
                probe.write(b"jarvis")
        except OSError as error:
            raise StoreError(f"{self.root}: cannot be written: {error.strerror}") from error

    def sweep(self, before: float) -> None:
        for pattern in (f"{TEMPORARY}*", f"??/??/{TEMPORARY}*"):
            for place in self.root.glob(pattern):
                with suppress(FileNotFoundError):
                    if place.stat().st_mtime < before:
                        place.unlink()

    def _place(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise SnapshotDamaged(f"{self.root}: not the name of a blob: {name[:80]!r}")
        return self.root / name[:2] / name[2:4] / name

    def _expect_blobs(self) -> None:
        """Refuse to write into a directory that has lost its blobs: it may be the place of one that is not mounted."""
        with self._writer.checked():
            is_lost = self._has_blobs and next(self.root.glob("??"), None) is None
        if is_lost:
            raise BlobsUnavailable(f"{self.root}: is missing or empty, although it had blobs before")


def _touch(place: Path, size: int) -> bool:
    """Update the time of a blob; return whether it exists, has the right size and is not marked as damaged."""
    try:
        os.utime(place)
        status = place.stat()
        return status.st_size == size and not status.st_mode & _DAMAGED
    except OSError:
        return False


def _read_error(root: Path, place: Path, error: OSError) -> SnapshotError:
    says = f"{place}: cannot be read: {error.strerror or error}"
    if isinstance(error, FileNotFoundError):
        says = f"{place}: {MISSING}"
    # A disk may fail in one place.
    is_of_host = error.errno in HOST_ERRNOS - {errno.EIO}
    is_damaged = not is_of_host and any(_probe(root, place.name))
    return SnapshotDamaged(says) if is_damaged else BlobsUnavailable(says)


def _probe(root: Path, but: str = "") -> list[bool]:
    """Return for some other blobs whether they are sound; empty if there are none, or they cannot be listed."""
    with suppress(OSError):
        places = (place for place in root.glob("??/??/*") if _NAME.fullmatch(place.name) and place.name != but)
        small = (place for place in places if place.stat().st_size <= _PROBE_BYTES)
        return [_is_sound(place) for place in islice(small, _PROBES)]
    return []


def _is_sound(place: Path) -> bool:
    try:
        return hashlib.sha256(place.read_bytes()).hexdigest() == place.name
    except OSError:
        return False
