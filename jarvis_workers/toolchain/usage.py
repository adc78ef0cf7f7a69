"""What processes take, as /proc shows it: memory, and space on the disk that no directory shows.

The sandbox looks many times a second, so this does without pathlib.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

BLOCK_BYTES = 512
# net.core.wmem_default, and the last buffer, which may go beyond it.
SOCKET_BYTES = 212_992 + 65_536
LEAST_AVAILABLE = 128 << 20
PRIVATE = re.compile(rb"^(?:RssAnon|VmSwap|VmPTE):\s+(\d+) kB$", re.MULTILINE)
AVAILABLE = re.compile(rb"^(MemTotal|MemAvailable):\s+(\d+) kB$", re.MULTILINE)


class ProcessUsage(NamedTuple):
    """What processes take together, in bytes: memory, and the disk's for files that have no name any more.

    `hidden` are the processes that do not show what they have open.
    """

    memory: int
    unlinked: int
    hidden: frozenset[int]


def usage_of(processes: Iterable[int]) -> ProcessUsage:
    """Measure processes, but for memory that they share; a socket counts as full.

    What a file without a name takes that is mapped and not open cannot be seen.
    """
    memory, sockets, files, hidden = 0, set[int](), dict[tuple[int, int], int](), set[int]()
    for process in processes:
        status = _read(f"/proc/{process}/status")
        memory += 1024 * sum(map(int, PRIVATE.findall(status)))
        try:
            for found in _open_files(process):
                if stat.S_ISSOCK(found.st_mode):
                    sockets.add(found.st_ino)
                elif stat.S_ISREG(found.st_mode) and not found.st_nlink:
                    files[found.st_dev, found.st_ino] = found.st_blocks * BLOCK_BYTES
        except PermissionError:
            # A process that ends has no memory, and shows nothing either.
            hidden |= {process} if b"VmSize" in status else set()
    return ProcessUsage(memory + len(sockets) * SOCKET_BYTES, sum(files.values()), frozenset(hidden))


def _open_files(process: int) -> Iterator[os.stat_result]:
    with suppress(FileNotFoundError, ProcessLookupError):
        for name in os.listdir(f"/proc/{process}/fd"):
            with suppress(FileNotFoundError):
                yield os.stat(f"/proc/{process}/fd/{name}")


def machine_is_short_of_memory(meminfo: str = "/proc/meminfo") -> bool:
    """Say whether so little memory is left that the kernel would soon kill something; False where nothing is known."""
    facts = {name: 1024 * int(number) for name, number in AVAILABLE.findall(_read(meminfo))}
    least = min(LEAST_AVAILABLE, facts.get(b"MemTotal", 0) // 50)
    return facts.get(b"MemAvailable", least) < least


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""
