"""What a command in the sandbox may take, and how it ended."""

import enum
from typing import NamedTuple

MEGABYTE = 1 << 20


class Tier(enum.StrEnum):
    """How much stands between a command and the machine."""

    A = "A"  # bubblewrap, and in it all of B
    B = "B"  # landlock, seccomp and limits
    C = "C"  # nothing can be trusted to: no command is run


class SandboxLimits(NamedTuple):
    """What a command may take.

    Each process may have so much CPU, address space, open files and size of a file; all of them together so much time,
    memory and disk in the scratch directory, and so many processes.
    """

    wall_seconds: float = 120
    cpu_seconds: int = 120
    memory_bytes: int = 2048 * MEGABYTE
    processes: int = 128
    file_bytes: int = 256 * MEGABYTE
    files: int = 256
    scratch_bytes: int = 512 * MEGABYTE
    output_bytes: int = 256 * 1024


class CommandOutcome(NamedTuple):
    """How a command ended.

    It has an exit code or the signal that ended it.  `cut` counts the bytes that its output lacks in the middle, and
    `reason` says which limit ended it, or why it could not be started.
    """

    code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    seconds: float
    cpu_seconds: float
    cut: int
    reason: str | None
