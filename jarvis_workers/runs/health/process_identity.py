"""The identity of this process, and whether another process on this machine is still alive."""

import os
import socket
from pathlib import Path
from typing import NamedTuple, Self

from jarvis_workers import __version__
from jarvis_workers.store.values import WorkerFacts

PROC = Path("/proc")
BOOT_ID = PROC / "sys/kernel/random/boot_id"
MACHINE_ID = Path("/etc/machine-id")


class ProcessStart(NamedTuple):
    """The unique identity of a process: boot, start time in ticks since boot, machine; stored separated by colons."""

    boot: str
    start: str
    machine: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a stored identity; those of older versions lack the machine."""
        return cls(*(*text.split(":"), "", "")[:3])


def this_worker(token: str, slots: int) -> WorkerFacts:
    """Return this process as a worker; `token` makes its id unique."""
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


def has_ended(worker: WorkerFacts) -> bool:
    """Return whether a worker is known to be dead: its process has ended, or its machine has been rebooted.

    A host name alone does not identify a rebooted machine, since several machines may share the name.
    """
    birth, boot = ProcessStart.parse(worker.birth), _read(BOOT_ID)
    if worker.host != socket.gethostname() or not boot:
        return False
    if birth.boot != boot:
        return bool(birth.machine) and birth.machine == _read(MACHINE_ID)
    alive = _birth(worker.pid)
    return alive is None or alive.start != birth.start


def _birth(pid: int) -> ProcessStart | None:
    """Return the identity of a process, or None if it is dead or a zombie. Raises OSError if that cannot be read."""
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *rest = stat[stat.rindex(")") + 2 :].split()
    return None if state in "ZX" else ProcessStart(_read(BOOT_ID), rest[18], _read(MACHINE_ID)[:32])


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
