"""Check a snapshot out as files, once per machine, for tools that need a directory.

A checkout is complete if it exists: it is renamed to its final name when finished, and renamed again before its
removal. Checkouts not used for a day are removed when another one is created.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from jarvis_workers.errors import SnapshotError, StoreFull
from jarvis_workers.snapshots.blobs import FULL, Blobs
from jarvis_workers.snapshots.reader import Reader, open_snapshot

UNUSED_SECONDS = 24 * 3600.0
FILE_MODE = 0o444
HIDDEN = "."
LOCK = ".lock"


def unpack(blobs: Blobs, snapshot_id: str, place: Path, now: float | None = None) -> Path:
    """Return a directory below `place` with the files of the snapshot. Raises SnapshotError, StoreFull."""
    return checked_out(place, snapshot_id, partial(_write_snapshot, blobs, snapshot_id), now)


def checked_out(place: Path, name: str, write: Callable[[Path], None], now: float | None = None) -> Path:
    """Return the directory `name` below `place`, which `write` fills if it does not exist. Raises SnapshotError."""
    target = place / name
    try:
        if not _is_used(target):
            place.mkdir(parents=True, exist_ok=True)
            with _alone(place):
                _remove_unused(place, time.time() if now is None else now)
                if not _is_used(target):
                    _write(target, write)
    except OSError as error:
        if error.errno in FULL:
            raise StoreFull(f"{place}: {error.strerror}; free some space, or set JARVIS_DATA_DIR") from error
        raise SnapshotError(f"{place}: the sources cannot be unpacked: {error.strerror}") from error
    return target


def _is_used(target: Path) -> bool:
    """Mark a checkout as in use; return False if it does not exist."""
    try:
        os.utime(target)
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Hold an exclusive lock on the directory of checkouts."""
    with (place / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(target: Path, write: Callable[[Path], None]) -> None:
    unfinished = Path(mkdtemp(prefix=f"{HIDDEN}{target.name[:8]}-", dir=target.parent))
    try:
        write(unfinished)
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _write_snapshot(blobs: Blobs, snapshot_id: str, unfinished: Path) -> None:
    with open_snapshot(blobs, snapshot_id) as reader:
        _write_files(reader, os.fsencode(unfinished))


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
    """Remove unused checkouts, and hidden directories left by processes that died while writing or removing."""
    for entry in place.iterdir():
        if not entry.is_dir():
            continue
        if entry.name.startswith(HIDDEN):
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.stat().st_mtime < now - UNUSED_SECONDS:
            _remove(entry, now)


def _remove(tree: Path, now: float) -> None:
    """Remove a checkout, unless another process has started to use it in the meantime."""
    leaving = tree.with_name(HIDDEN + tree.name)
    tree.rename(leaving)
    if leaving.stat().st_mtime < now - UNUSED_SECONDS:
        shutil.rmtree(leaving, ignore_errors=True)
    else:
        leaving.rename(tree)
