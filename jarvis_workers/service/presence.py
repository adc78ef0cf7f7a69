"""Who this process is, and whether another one on this machine is still there."""

import os
import socket
from pathlib import Path

from jarvis_workers import __version__
from jarvis_workers.store.values import WorkerFacts

PROC = Path("/proc")
BOOT_ID = PROC / "sys/kernel/random/boot_id"


def this_worker(token: str, slots: int) -> WorkerFacts:
    """Describe this process as a worker; `token` makes its id unique."""
    host, pid = socket.gethostname(), os.getpid()
    return WorkerFacts(
        id=f"{host[:24]}-{pid}-{token}",
        host=host,
        pid=pid,
        birth=_birth(pid) or "unknown",
        queues="scan,control",
        slots=slots,
        version=__version__,
    )


def is_gone(worker: WorkerFacts) -> bool:
    """Say whether a worker is known to be dead: of this host and boot, and its process is no more."""
    boot = _boot()
    if worker.host != socket.gethostname() or not boot or not worker.birth.startswith(boot):
        return False
    return _birth(worker.pid) != worker.birth


def _birth(pid: int) -> str | None:
    """Return boot id and start time of a process; None if it is dead or a zombie."""
    try:
        said = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    state, *rest = said[said.rindex(")") + 2 :].split()
    return None if state in "ZX" else f"{_boot()}:{rest[18]}"


def _boot() -> str:
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return ""
