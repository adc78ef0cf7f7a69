"""A snapshot as files: unpacked once on a machine, for tools that want a directory.

What is there under its name is whole: it was written beside it and renamed.  Trees that nobody has opened for a day go
when another one comes.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from jarvis_workers.errors import SnapshotError
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import Reader, open_snapshot

UNUSED_SECONDS = 24 * 3600.0
FILE_MODE = 0o444
LOCK = ".lock"


def unpack(blobs: Blobs, snapshot_id: str, place: Path, now: float | None = None) -> Path:
    """Return a directory below `place` that holds the snapshot's files; raises SnapshotError."""
    target = place / snapshot_id
    try:
        place.mkdir(parents=True, exist_ok=True)
        if not target.is_dir():
            with _alone(place):
                _remove_unused(place, time.time() if now is None else now)
                if not target.is_dir():
                    _write(blobs, snapshot_id, target)
        os.utime(target)
    except OSError as error:
        raise SnapshotError(f"{place}: the sources cannot be unpacked: {error.strerror}") from error
    return target


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Let one process at a time write here."""
    with (place / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(blobs: Blobs, snapshot_id: str, target: Path) -> None:
    unfinished = Path(mkdtemp(prefix=f".{snapshot_id[:8]}-", dir=target.parent))
    try:
        with open_snapshot(blobs, snapshot_id) as reader:
            _write_files(reader, os.fsencode(unfinished))
        unfinished.rename(target)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _write_files(reader: Reader, root: bytes) -> None:
    made = b""
    for entry in reader.files():
        path = root + b"/" + entry.path
        directory = path.rpartition(b"/")[0]
        if directory != made:
            os.makedirs(directory, exist_ok=True)  # noqa: PTH103  (bytes)
            made = directory
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(reader.read(entry))


def _remove_unused(place: Path, now: float) -> None:
    for found in place.iterdir():
        if found.is_dir() and found.stat().st_mtime < now - UNUSED_SECONDS:
            shutil.rmtree(found, ignore_errors=True)
