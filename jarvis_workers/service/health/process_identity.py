"""Who this process is, and whether another one on this machine is still there."""

import os
import socket
from pathlib import Path
from typing import NamedTuple, Self

from jarvis_workers import __version__
from jarvis_workers.store.values import WorkerFacts

PROC = Path("/proc")
BOOT_ID = PROC / "sys/kernel/random/boot_id"
MACHINE_ID = Path("/etc/machine-id")


class Birth(NamedTuple):
    """What tells a process from all others: boot, start time in ticks since the boot, machine; stored with colons."""

    boot: str
    start: str
    machine: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return a birth as it was stored, by an older version without the machine."""
        return cls(*(*text.split(":"), "", "")[:3])


def this_worker(token: str, slots: int) -> WorkerFacts:
    """Describe this process as a worker; `token` makes its id unique."""
    host, pid = socket.gethostname(), os.getpid()
    return WorkerFacts(
        id=f"{host[:24]}-{pid}-{token}",
        host=host,
        pid=pid,
        birth=":".join(_birth(pid) or ("unknown",)),
        queues="scan,control",
        slots=slots,
        version=__version__,
    )


def is_gone(worker: WorkerFacts) -> bool:
    """Say whether a worker is known to be dead: of this machine, and of an earlier boot or its process is no more.

    A host's name is not enough to know a machine that has booted again: others may have the same.
    """
    birth, boot = Birth.parse(worker.birth), _read(BOOT_ID)
    if worker.host != socket.gethostname() or not boot:
        return False
    if birth.boot != boot:
        return bool(birth.machine) and birth.machine == _read(MACHINE_ID)
    alive = _birth(worker.pid)
    return alive is None or alive.start != birth.start


def _birth(pid: int) -> Birth | None:
    """Return the birth of a process; None if it is dead or a zombie."""
    try:
        said = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    state, *rest = said[said.rindex(")") + 2 :].split()
    return None if state in "ZX" else Birth(_read(BOOT_ID), rest[18], _read(MACHINE_ID)[:32])


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
