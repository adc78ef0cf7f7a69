"""Temporary directories that a later command removes if their process was killed.

Each directory is locked with flock by the process that created it; the kernel releases the lock when that process ends,
even after SIGKILL or a reboot, or in another container that shares the directory. A directory gets its final name only
after it is locked, so that no other process removes it in between.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NEW = ".new-"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def temporary_directory(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Yield a new directory PREFIX-PID-RANDOM and remove it at exit, together with directories of dead processes."""
    place = parent or Path(tempfile.gettempdir())
    remove_abandoned(prefix, place)
    new = Path(tempfile.mkdtemp(prefix=f"{NEW}{prefix}-{os.getpid()}-", dir=place))
    descriptor = os.open(new, _DIRECTORY)
    try:
        with suppress(OSError):  # if locks are unsupported, no other process can lock and remove this directory
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        directory = new.rename(new.with_name(new.name.removeprefix(NEW)))
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    finally:
        os.close(descriptor)


def remove_abandoned(prefix: str, place: Path) -> None:
    """Remove the user's directories with this prefix that no process has locked."""
    for path in place.glob(f"{prefix}-*"):
        with suppress(OSError):
            _remove_unlocked(path)


def _remove_unlocked(path: Path) -> None:
    descriptor = os.open(path, _DIRECTORY)
    try:
        if os.fstat(descriptor).st_uid == os.geteuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(descriptor)
