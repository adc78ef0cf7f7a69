"""Write blobs into a directory atomically: into a temporary file, which is then renamed."""

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from jarvis_workers.errors import BlobsUnavailable, StoreFull

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
