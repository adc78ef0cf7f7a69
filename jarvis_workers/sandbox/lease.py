"""Build directories DIRECTORY/benches/N, each locked by one process at a time.

Their paths are constant because builds record absolute paths.  The lock is released when the process that holds it
exits.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jarvis_workers.errors import StepFailed

BENCHES = "benches"
MOST = 64


@contextmanager
def leased_directory(directory: Path, state: str) -> Iterator[Path]:
    """Yield a directory that no other process uses, preferably one whose `state` file contains `state`."""
    base = Path(os.path.realpath(directory), BENCHES)
    base.mkdir(parents=True, exist_ok=True)
    numbers = sorted(range(MOST), key=lambda number: (_state(base / str(number)) != state, number))
    for number in numbers:
        with (base / f"{number}.lock").open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            place = base / str(number)
            place.mkdir(mode=0o700, exist_ok=True)
            yield place
            return
    raise StepFailed(f"{base}: all {MOST} build directories are in use")


def _state(place: Path) -> str | None:
    try:
        return (place / "state").read_text()
    except OSError:
        return None
