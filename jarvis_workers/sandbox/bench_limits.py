"""Limits of the commands on a bench."""

from math import inf
from typing import NamedTuple

from jarvis_workers.sandbox.limits import MEGABYTE, SandboxLimits

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
