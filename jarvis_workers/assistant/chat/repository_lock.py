"""The lock of a repository: one `jarvis code` at a time changes branches and worktrees of a repository.

The kernel releases the lock when its process ends, even after SIGKILL, so that a lock file that a dead process left is
taken over.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import md5
from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.private_files import make_private_directory

LOCKS = "locks"
LOCK_FILE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
PID_BYTES = 20


def lock_path(top: Path, data: Path) -> Path:
    """Return the lock file of the repository at `top` in the data directory; its name has the MD5 of the path."""
    name = md5(os.fsencode(top), usedforsecurity=False).hexdigest()
    return data / LOCKS / f"code-{name}.lock"


@contextmanager
def lock_repository(top: Path, data: Path) -> Iterator[None]:
    """Hold the lock of a repository. Raises UsageError if another process holds it."""
    path = lock_path(top, data)
    make_private_directory(data)
    path.parent.mkdir(exist_ok=True)
    descriptor = os.open(path, LOCK_FILE, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(descriptor, PID_BYTES, 0).decode("ascii", "replace").strip()
            raise UsageError(
                f"{plain(str(top))}: process {holder or '?'} is changing this repository; wait for it, or stop it"
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)
