"""Resource usage of processes from /proc: memory, and disk space of files without a directory entry.

The sandbox measures usage many times per second, so this module avoids pathlib.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

BLOCK_BYTES = 512
# The default net.core.wmem_default, plus the last buffer, which may exceed it.
SOCKET_BYTES = 212_992 + 65_536
LEAST_AVAILABLE = 128 << 20
PRIVATE = re.compile(rb"^(?:RssAnon|VmSwap|VmPTE):\s+(\d+) kB$", re.MULTILINE)
AVAILABLE = re.compile(rb"^(MemTotal|MemAvailable):\s+(\d+) kB$", re.MULTILINE)


class ProcessUsage(NamedTuple):
    """Total usage of a set of processes, in bytes: memory, and the disk space of unlinked files.

    `hidden` contains the processes whose open files cannot be read.
    """

    memory: int
    unlinked: int
    hidden: frozenset[int]


def usage_of(processes: Iterable[int]) -> ProcessUsage:
    """Measure processes, excluding shared memory; every socket counts as full.

    An unlinked file that is mapped but not open is not visible in /proc and therefore not counted.
    """
    memory, sockets, files, hidden = 0, set[int](), dict[tuple[int, int], int](), set[int]()
    for process in processes:
        status = read_proc_file(f"/proc/{process}/status")
        memory += 1024 * sum(map(int, PRIVATE.findall(status)))
        try:
            for file in _open_files(process):
                if stat.S_ISSOCK(file.st_mode):
                    sockets.add(file.st_ino)
                elif stat.S_ISREG(file.st_mode) and not file.st_nlink:
                    files[file.st_dev, file.st_ino] = file.st_blocks * BLOCK_BYTES
        except PermissionError:
            # An exiting process has no memory, and its open files cannot be read either.
            hidden |= {process} if b"VmSize" in status else set()
    return ProcessUsage(memory + len(sockets) * SOCKET_BYTES, sum(files.values()), frozenset(hidden))


def _open_files(process: int) -> Iterator[os.stat_result]:
    with suppress(FileNotFoundError, ProcessLookupError):
        for name in os.listdir(f"/proc/{process}/fd"):
            with suppress(FileNotFoundError):
                yield os.stat(f"/proc/{process}/fd/{name}")


def machine_is_short_of_memory(meminfo: str = "/proc/meminfo") -> bool:
    """Return whether so little memory is available that the kernel may soon kill a process; False if unknown."""
    facts = {name: 1024 * int(number) for name, number in AVAILABLE.findall(read_proc_file(meminfo))}
    least = min(LEAST_AVAILABLE, facts.get(b"MemTotal", 0) // 50)
    return facts.get(b"MemAvailable", least) < least


def read_proc_file(path: str) -> bytes:
    """Return the content of a file in /proc; b"" if its process has ended or the file is not readable."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""
