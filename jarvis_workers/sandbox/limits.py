"""Resource limits and outcomes of sandboxed commands."""

import enum
from math import inf
from typing import NamedTuple

MEGABYTE = 1 << 20
ANY_ADDRESS = 1 << 62


class Tier(enum.StrEnum):
    """The level of isolation between a command and the machine."""

    A = "A"  # bubblewrap around all of B
    B = "B"  # Landlock, seccomp and resource limits
    C = "C"  # no isolation available: no command is run


class SandboxLimits(NamedTuple):
    """Resource limits of a command.

    CPU time, address space, open files and file size are limited per process; wall time, memory, scratch space and the
    number of processes are limited in total.  `address_bytes` is the address space if it is not `memory_bytes`:
    programs with AddressSanitizer reserve terabytes of it, of which they use only a part.
    """

    wall_seconds: float = 120
    cpu_seconds: int = 120
    memory_bytes: int = 2048 * MEGABYTE
    processes: int = 128
    file_bytes: int = 256 * MEGABYTE
    files: int = 256
    scratch_bytes: int = 512 * MEGABYTE
    output_bytes: int = 256 * 1024
    address_bytes: int | None = None


# Reasons for ending a command that does not use too much itself.
FREE_DISK, FREE_MEMORY = "free disk space", "free memory"


class CommandOutcome(NamedTuple):
    """The outcome of a command: an exit code, or the signal that ended it.

    `cut` is the number of bytes missing in the middle of its output. `reason` is the limit that ended it, or the reason
    why it could not be started. `exits` are the exit codes of all processes of a command on loopback.
    """

    code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    seconds: float
    cpu_seconds: float
    cut: int
    reason: str | None
    exits: tuple[int, ...] = ()


# Limits of the commands on a bench.

OUTPUT_BYTES = 64_000_000


class BenchLimits(NamedTuple):
    """Limits of commands: seconds of a build and of a test, and megabytes of memory and of files."""

    build_seconds: float = 1800
    test_seconds: float = 600
    memory_mb: float = 4096
    disk_mb: float = 8192

    def of(self, seconds: float, cpu_seconds: float = inf) -> SandboxLimits:
        return SandboxLimits(
            wall_seconds=seconds,
            cpu_seconds=max(1, int(min(seconds, cpu_seconds))),
            memory_bytes=int(self.memory_mb * MEGABYTE),
            processes=512,
            file_bytes=int(self.disk_mb * MEGABYTE),
            files=1024,
            scratch_bytes=int(self.disk_mb * MEGABYTE),
            output_bytes=OUTPUT_BYTES,
        )


class CommandLimit(NamedTuple):
    """Limits of a test: seconds of wall-clock time, and of CPU time of each of its processes."""

    seconds: float = inf
    cpu_seconds: float = inf


UNLIMITED = CommandLimit()
