"""Resource usage of processes from /proc: memory, and disk space of files without a directory entry.

The sandbox measures usage many times per second, so this module avoids pathlib.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

BLOCK_BYTES = 512
# The default net.core.wmem_default, plus the last buffer, which may exceed it.
SOCKET_BYTES = 212_992 + 65_536
# The default capacity of a pipe: 16 pages. An unprivileged user's larger ones have 64 MB in all (pipe(7)).
PIPE_BYTES = 65_536
# Kernel memory of a mapping (vm_area_struct and its nodes), and the most bytes of /proc/PID/maps to read for all.
MAPPING_BYTES = 256
MAPS_BYTES, MAPS_CHUNK = 8 << 20, 1 << 14
ANY_LIMIT = 1 << 62
LEAST_AVAILABLE = 128 << 20
PRIVATE = re.compile(rb"^(?:RssAnon|VmSwap|VmPTE|HugetlbPages):\s+(\d+) kB$", re.MULTILINE)
AVAILABLE = re.compile(rb"^(MemTotal|MemAvailable):\s+(\d+) kB$", re.MULTILINE)
REMOVED = b" (deleted)\n"
# Start and end, offset, inode and path of the mapping of a removed file.
REMOVED_MAPPING = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ (\d+) +(/.*) \(deleted\)$", re.MULTILINE)


# The queues of sockets in this network namespace; of the bytes queued, the kernel allocates up to twice as many.
QUEUES = tuple(f"/proc/self/net/{name}" for name in ("tcp", "tcp6", "udp", "udp6"))
QUEUED = re.compile(rb"^ *\d+: \S+ \S+ \S+ ([0-9A-F]{8}):([0-9A-F]{8}) ", re.MULTILINE)
ALLOCATED_PER_BYTE = 2


# The controllers and the path of a control group; the directory, limit and usage of memory in both versions.
GROUP = re.compile(rb"^\d+:([^:]*):(/.*)$", re.MULTILINE)
V1_MEMORY = ("/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
V2_MEMORY = ("", "memory.max", "memory.current")


class ProcessUsage(NamedTuple):
    """Total usage of a set of processes, in bytes: memory, and the disk space of removed files that are still open.

    `mapped` is the size of the parts up to which removed files are mapped that are not open, `mapped_files` their
    number. `hidden` contains the processes whose open files cannot be read.
    """

    memory: int
    unlinked: int
    hidden: frozenset[int]
    mapped: int = 0
    mapped_files: int = 0


class _ProcessFacts(NamedTuple):
    """A process in /proc, or one of its threads if the first one has ended, and its status."""

    place: str
    status: bytes


def usage_of(processes: Iterable[int], own: Sequence[str] = ()) -> ProcessUsage:
    """Measure processes, excluding shared memory; every socket and pipe counts as full.

    `own` are directories of these processes: files removed from there also count while they are mapped or executed.
    Processes with more mappings than fit into MAPS_BYTES use more memory than any limit.
    """
    memory, left = 0, MAPS_BYTES
    kernel_memory, hidden = dict[int, int](), set[int]()
    files, mappings = dict[tuple[int, int], int](), dict[int, int]()
    below = tuple(os.fsencode(f"{place}/") for place in own)
    for process in processes:
        facts = _facts_of(process)
        memory += 1024 * sum(map(int, PRIVATE.findall(facts.status)))
        maps = _read_maps(facts.place, left)
        left -= len(maps)
        memory += MAPPING_BYTES * maps.count(b"\n")
        if REMOVED in maps:
            _add_removed(mappings, maps, below)
        try:
            for file in _files_in_use(facts.place):
                if stat.S_ISSOCK(file.st_mode) or stat.S_ISFIFO(file.st_mode):
                    kernel_memory[file.st_ino] = SOCKET_BYTES if stat.S_ISSOCK(file.st_mode) else PIPE_BYTES
                elif not file.st_nlink and (stat.S_ISREG(file.st_mode) or stat.S_ISDIR(file.st_mode)):
                    files[file.st_dev, file.st_ino] = file.st_blocks * BLOCK_BYTES
        except PermissionError:
            # An exiting process has no memory, and its open files cannot be read either.
            hidden |= {process} if b"VmSize" in facts.status else set()
    is_open = {inode for _, inode in files}
    sizes = [size for inode, size in mappings.items() if inode not in is_open]
    memory = memory + sum(kernel_memory.values()) if left > 0 else ANY_LIMIT
    return ProcessUsage(memory, sum(files.values()), frozenset(hidden), sum(sizes), len(sizes))


def _facts_of(process: int) -> _ProcessFacts:
    """Return a process; if its first thread has ended, the memory and files are those of another thread."""
    place = f"/proc/{process}"
    status = read_proc_file(f"{place}/status")
    if b"VmSize" not in status:
        with suppress(FileNotFoundError, ProcessLookupError):
            for thread in os.listdir(f"{place}/task"):
                other = read_proc_file(f"{place}/task/{thread}/status")
                if b"VmSize" in other:
                    return _ProcessFacts(f"{place}/task/{thread}", other)
    return _ProcessFacts(place, status)


def _read_maps(place: str, most: int) -> bytes:
    """Read at most about `most` bytes of the mappings; the kernel returns a page per call."""
    chunks, size = [], 0
    with suppress(OSError), open(f"{place}/maps", "rb", buffering=0) as file:
        while size < most and (chunk := file.read(MAPS_CHUNK)):
            chunks.append(chunk)
            size += len(chunk)
    return b"".join(chunks)


def _add_removed(mappings: dict[int, int], maps: bytes, below: tuple[bytes, ...]) -> None:
    for start, end, offset, inode, path in REMOVED_MAPPING.findall(maps):
        if path.startswith(below):
            size = int(offset, 16) + int(end, 16) - int(start, 16)
            mappings[int(inode)] = max(size, mappings.get(int(inode), 0))


def _files_in_use(place: str) -> Iterator[os.stat_result]:
    """Yield the open files of a process, its directory and its program."""
    with suppress(FileNotFoundError, ProcessLookupError):
        for name in ("cwd", "exe", *(f"fd/{number}" for number in os.listdir(f"{place}/fd"))):
            with suppress(FileNotFoundError):
                yield os.stat(f"{place}/{name}")


def queued_bytes() -> int:
    """Return the kernel's memory for data in sockets of this network namespace, also in those that nobody accepted."""
    pairs = (pair for path in QUEUES for pair in QUEUED.findall(read_proc_file(path)))
    return ALLOCATED_PER_BYTE * sum(int(queue, 16) for pair in pairs for queue in pair)


def machine_is_short_of_memory(meminfo: str = "/proc/meminfo") -> bool:
    """Return whether so little memory is available that the kernel may soon kill a process; False if unknown."""
    facts = {name: 1024 * int(number) for name, number in AVAILABLE.findall(read_proc_file(meminfo))}
    least = min(LEAST_AVAILABLE, facts.get(b"MemTotal", 0) // 50)
    return facts.get(b"MemAvailable", least) < least


def available_memory(groups: str = "/sys/fs/cgroup", own: str = "/proc/self/cgroup") -> int:
    """Return the bytes that are available on this machine, or in the control group of this process or its container."""
    facts = {name: 1024 * int(number) for name, number in AVAILABLE.findall(read_proc_file("/proc/meminfo"))}
    return min([facts.get(b"MemAvailable", 0), *_room_in_groups(groups, own)])


def _room_in_groups(groups: str, own: str) -> Iterator[int]:
    """Yield what is left of the limits of the groups of this process; a container sees its own as the root."""
    for controller, group in GROUP.findall(read_proc_file(own)):
        place, most, used = V1_MEMORY if b"memory" in controller.split(b",") else V2_MEMORY
        path = f"{groups}{place}{os.fsdecode(group)}".rstrip("/")
        while path.startswith(groups):
            limit, usage = read_proc_file(f"{path}/{most}").strip(), read_proc_file(f"{path}/{used}").strip()
            if limit.isdigit() and usage.isdigit():
                yield max(0, int(limit) - int(usage))
            path = os.path.dirname(path)


def read_proc_file(path: str) -> bytes:
    """Return the content of a file in /proc; b"" if its process has ended or the file is not readable."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""
