"""Heartbeat files: a worker touches its own in the data directory at every tick, and removes it when it ends.

Probes read them (`jarvis worker healthcheck`), so this module imports nothing that is slow.
"""

import time
from contextlib import suppress
from pathlib import Path

HEARTBEATS = "worker-*.alive"


def heartbeat_file(directory: Path, worker: str) -> Path:
    return directory / HEARTBEATS.replace("*", worker)


def heartbeat_age(directory: Path) -> float | None:
    """Return the seconds since the latest heartbeat of the workers of a data directory; None if there is no file.

    If the clock was set back, a time in the future counts as equally far in the past.
    """
    now, ages = time.time(), []
    for file in directory.glob(HEARTBEATS):
        with suppress(OSError):
            ages.append(abs(now - file.stat().st_mtime))
    return min(ages, default=None)
