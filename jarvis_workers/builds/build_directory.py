"""Directories in which builds of projects run:

DATA/builds/NAME, with the same name for the same tree, so that paths are stable.

A directory is locked while its BuildDirectory is referenced; only the KEEP newest unlocked directories are retained.
"""

import fcntl
import os
import re
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import IO

from jarvis_workers.errors import UsageError
from jarvis_workers.toolchain import scratch

BUILDS = "builds"
KEEP = 4
MOST_AT_ONCE = 8
UNSAFE = re.compile(r"[^A-Za-z0-9._+-]")
NAME_LENGTH = 32


class BuildDirectory:
    """An empty directory for the build of a tree; it is locked until the object is no longer referenced."""

    def __init__(self, place: Path, lock: IO[bytes]) -> None:
        self.place, self._lock = place, lock


def open_build_directory(tree: Path, data: Path) -> BuildDirectory:
    """Return a new build directory of a tree, removing older ones.

    Raises UsageError if too many are in use, or if the data directory cannot be written.
    """
    real = os.path.realpath(tree)
    name = f"{UNSAFE.sub('_', Path(real).name)[:NAME_LENGTH]}-{sha256(os.fsencode(real)).hexdigest()[:12]}"
    builds = Path(os.path.realpath(data), BUILDS)
    try:
        builds.mkdir(parents=True, exist_ok=True)
        for number in range(MOST_AT_ONCE):
            place = builds / (f"{name}-{number + 1}" if number else name)
            if lock := _lock(place):
                _remove_older(builds, place)
                scratch.remove(str(place))
                place.mkdir(mode=0o700)
                return BuildDirectory(place, lock)
    except OSError as error:
        raise UsageError(f"{builds}: cannot be written: {error.strerror}; set data_dir to another directory") from error
    raise UsageError(f"{tree}: {MOST_AT_ONCE} builds of this tree are running; wait for one to end")


def _lock(place: Path) -> IO[bytes] | None:
    """Lock a build directory with a lock file beside it, or return None if another process has locked it."""
    path = place.with_name(f"{place.name}.lock")
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    # Another process may have removed the file between opening and locking.
    if not path.exists() or path.stat().st_ino != os.fstat(file.fileno()).st_ino:
        file.close()
        return None
    os.utime(path)
    return file


def _remove_older(builds: Path, own: Path) -> None:
    locks = [path for path in builds.glob("*.lock") if path.name != f"{own.name}.lock"]
    with suppress(FileNotFoundError):
        locks.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in locks[KEEP - 1 :]:
        with path.open("ab") as file, suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            scratch.remove(str(path.with_suffix("")))
            path.unlink()
