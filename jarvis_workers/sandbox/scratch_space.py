"""Limit the scratch directory of a command: a file system with a size in tier A, otherwise measured on disk.

A file system in memory (tmpfs) cannot exceed its size, wherever its files are hidden, and its pages count as memory of
the command. It belongs to one sandbox; the limit of a command may be lower, which is measured, too.
"""

import functools
import os
import re
import subprocess
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from jarvis_workers.sandbox import bwrap
from jarvis_workers.sandbox.confine import PRIVATE_TEMPORARY
from jarvis_workers.sandbox.limits import FREE_DISK
from jarvis_workers.sandbox.protocol import Request
from jarvis_workers.toolchain import scratch
from jarvis_workers.toolchain.usage import ProcessUsage, available_memory

# Room beyond the limit, so that a command that reaches the limit is ended with a reason and does not only see ENOSPC.
EXTRA_SHARE = 16
# The share of the available memory that one scratch directory may have.
MEMORY_SHARE = 4
# The first version with --size for --tmpfs.
SIZED_SINCE = (0, 7)
VERSION = re.compile(r"(\d+)\.(\d+)")
# Free disk space that is reserved for other programs.
LEAST_FREE = 32 << 20
# If free disk space shrinks by an eighth of the limit, due to any process, the next check is made at once.
FILLING_SHARE = 8
# An inode of tmpfs and its name, in kernel memory.
INODE_BYTES = 1024


class SizedScratch(NamedTuple):
    """The size in bytes of a scratch directory in memory, or None and the reason why it is on disk."""

    size: int | None
    why: str = ""


def scratch_in_memory(limit: int, visible: Sequence[str] = ()) -> SizedScratch:
    """Decide whether a scratch directory of tier A is in memory; `visible` are the directories of the sandbox."""
    size = limit + limit // EXTRA_SHARE
    version = _version()
    if version < SIZED_SINCE:
        return SizedScratch(None, f"bubblewrap {'.'.join(map(str, version))} cannot limit the size of a file system")
    available = available_memory()
    if size * MEMORY_SHARE > available:
        needed, there = size * MEMORY_SHARE >> 20, available >> 20
        return SizedScratch(None, f"{needed} MB of available memory are needed, there are {there} MB")
    if PRIVATE_TEMPORARY in visible:
        return SizedScratch(None, f"commands read {PRIVATE_TEMPORARY}")
    return SizedScratch(size)


@functools.cache
def _version() -> tuple[int, ...]:
    program = bwrap.find()
    if program is None:
        return (0, 0)
    shown = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    found = VERSION.search(shown)
    return tuple(map(int, found.groups())) if found else (0, 0)


class ScratchLimit(Protocol):
    """Checks the scratch directory of a command while it runs."""

    def memory_bytes(self) -> int:
        """Return the memory that the scratch directory takes."""
        ...

    def exceeded(self, usage: ProcessUsage) -> str | None:
        """Return the reason for ending the command, or None."""
        ...

    def is_filling(self) -> bool:
        """Return whether much has been written since the last check."""
        ...

    def owns(self, path: str) -> bool:
        """Return whether a file, a link in /proc, is in the scratch directory."""
        ...


def scratch_limit(request: Request) -> ScratchLimit:
    return _SizedFileSystem(request) if request.in_memory else _MeasuredDirectory(request)


class _SizedFileSystem:
    """The file system counts all its files, also those without a name; all of it belongs to the command."""

    def __init__(self, request: Request) -> None:
        self._scratch, self._limit = request.scratch, request.limits.scratch_bytes
        self._device = os.stat(request.scratch).st_dev

    def memory_bytes(self) -> int:
        used, inodes = self._used()
        return used + inodes * INODE_BYTES

    def exceeded(self, usage: ProcessUsage) -> str | None:
        return "disk" if self._size() > self._limit else None

    def is_filling(self) -> bool:
        return self._size() > self._limit

    def owns(self, path: str) -> bool:
        return os.stat(path).st_dev == self._device

    def _size(self) -> int:
        used, inodes = self._used()
        return max(used, inodes * scratch.ENTRY_BYTES)

    def _used(self) -> tuple[int, int]:
        """Return the bytes and the files of the file system."""
        facts = os.statvfs(self._scratch)
        return (facts.f_blocks - facts.f_bfree) * facts.f_frsize, facts.f_files - facts.f_ffree


class _MeasuredDirectory:
    """A directory on a disk with other files: its size is measured, and that of the files removed from it."""

    def __init__(self, request: Request) -> None:
        self._scratch, self._limits = request.scratch, request.limits
        self._free = self._free_at_start = self._free_bytes()
        self._size_at_start = scratch.size_of(request.scratch)

    def memory_bytes(self) -> int:
        return 0

    def exceeded(self, usage: ProcessUsage) -> str | None:
        self._free = self._free_bytes()
        if self._free < LEAST_FREE:
            return FREE_DISK
        return "disk" if self._overfills(usage) else None

    def is_filling(self) -> bool:
        return self._free - self._free_bytes() > self._limits.scratch_bytes // FILLING_SHARE

    def owns(self, path: str) -> bool:
        return os.readlink(path).startswith(self._scratch + "/")

    def _overfills(self, usage: ProcessUsage) -> bool:
        """Return whether the scratch directory and the files removed from it exceed the limit.

        A removed file that is only mapped may be larger than the mapping: it is taken to be the reason for a loss of
        free space that is not explained otherwise, up to the largest size of a file.
        """
        room = self._limits.scratch_bytes - usage.unlinked
        size = scratch.size_of(self._scratch, room)
        lost = self._free_at_start - self._free - (size - self._size_at_start) - usage.unlinked
        return size + max(usage.mapped, min(lost, usage.mapped_files * self._limits.file_bytes)) > room

    def _free_bytes(self) -> int:
        statistics = os.statvfs(self._scratch)
        return statistics.f_bavail * statistics.f_frsize
