"""Keep bytes under their SHA-256: what every blob store does, and the store in a directory.

Writing what is there already touches it, so that whoever prunes sees that it is wanted.  Nothing is synced: after a
power cut a blob may be short, and then the next `put` replaces it and a reader finds it damaged.  What a reader finds
damaged it marks, so that the next `put` replaces that, too; meanwhile the other files in it can still be read.
"""

import errno
import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from jarvis_workers.errors import SnapshotDamaged, StoreError
from jarvis_workers.snapshots.blob_writer import TEMPORARY, BlobWriter

MISSING = "missing; submit the tree again, unless JARVIS_BLOBS_URL differs from where it was submitted"
_NAME = re.compile(r"[0-9a-f]{64}")
# A mode bit that blobs do not have otherwise; it goes with the file when that is replaced.
_DAMAGED = stat.S_IXUSR


class Stored(NamedTuple):
    """A blob as it lies there: bytes, and when it was last written or wanted, in seconds since 1970."""

    name: str
    size: int
    wanted_at: float


class Blobs(Protocol):
    """Bytes by name.

    `put` raises StoreFull; `read`, `path` and `open` raise SnapshotDamaged for what is missing or is not what its
    name says (`path` and `open` of a directory do not look).
    """

    def __hash__(self) -> int: ...

    def put(self, content: bytes) -> str: ...

    def put_chunks(self, chunks: Iterable[bytes]) -> str:
        """For what need not fit into memory."""

    def has(self, name: str) -> bool: ...

    def read(self, name: str) -> bytes: ...

    def mark_damaged(self, name: str) -> None:
        """Have the next `put` of this content write it again."""
        ...

    def path(self, name: str) -> Path: ...

    def open(self, name: str) -> int:
        """Return a file descriptor that the caller closes; what is open stays."""

    def names(self) -> Iterator[Stored]: ...

    def delete(self, name: str, *, unless_wanted_since: float | None = None) -> bool:
        """Return whether it is gone."""

    def sweep(self, before: float) -> None:
        """Remove what interrupted writes left."""

    def check_access(self) -> None:
        """Write something and remove it again. Raises StoreError, SnapshotError where that does not work."""


def read_range(blobs: Blobs, name: str, start: int, length: int) -> bytes:
    """Return some bytes of a blob, for a caller who knows what they should be. Raises SnapshotDamaged."""
    descriptor = blobs.open(name)
    try:
        return os.pread(descriptor, length, start)
    finally:
        os.close(descriptor)


class DirectoryBlobs:
    """Blobs in two levels of directories; several processes may share it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._writer = BlobWriter(root)

    def put(self, content: bytes) -> str:
        name = hashlib.sha256(content).hexdigest()
        if not self._touch(name, len(content)):
            self._writer.write(self._place(name), content)
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
            raise _unreadable(place, error) from error
        if hashlib.sha256(content).hexdigest() != name:
            self.mark_damaged(name)
            raise SnapshotDamaged(
                f"{place}: corrupt: the content does not match its digest; submit the tree again to replace it"
            )
        return content

    def mark_damaged(self, name: str) -> None:
        place = self._place(name)
        with suppress(OSError):  # who may only read cannot mark it: whoever submits should be told by the report
            place.chmod(place.stat().st_mode | _DAMAGED)

    def path(self, name: str) -> Path:
        place = self._place(name)
        if not place.exists():
            raise _unreadable(place, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
        return place

    def open(self, name: str) -> int:
        place = self._place(name)
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise _unreadable(place, error) from error
        with suppress(OSError):  # a file system without locks: what is unlinked while it is open stays readable
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return descriptor

    def names(self) -> Iterator[Stored]:
        for place in self.root.glob("??/??/*"):
            if _NAME.fullmatch(place.name):
                with suppress(FileNotFoundError):
                    facts = place.stat()
                    yield Stored(place.name, facts.st_size, facts.st_mtime)

    def delete(self, name: str, *, unless_wanted_since: float | None = None) -> bool:
        """Step it aside before looking at its time: a `put` either shows there, or finds nothing and writes anew."""
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
        import tempfile  # noqa: PLC0415 - slow, and who only reads needs none

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

    def _touch(self, name: str, size: int) -> bool:
        """Return whether it is there, whole by its size, and nobody has found it damaged."""
        place = self._place(name)
        try:
            os.utime(place)
            found = place.stat()
            return found.st_size == size and not found.st_mode & _DAMAGED
        except OSError:
            return False


def _unreadable(place: Path, error: OSError) -> SnapshotDamaged:
    if isinstance(error, FileNotFoundError):
        return SnapshotDamaged(f"{place}: {MISSING}")
    return SnapshotDamaged(f"{place}: cannot be read: {error.strerror or error}")
