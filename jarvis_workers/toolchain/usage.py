"""Resource usage of processes from /proc: memory, and disk space of files without a directory entry.

The sandbox measures usage many times per second, so this module avoids pathlib.
"""

import functools
import os
import re
import stat
from collections.abc import Container, Iterable, Iterator, Sequence
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
# Kernel memory of a thread (its stack and task_struct), of an open file, of a file that an epoll watches (epitem and
# eppoll_entry), of a seccomp filter of the greatest length (classic, converted and compiled), of a TCP or UDP socket,
# and of a lock.
TASK_BYTES, FILE_BYTES, WATCH_BYTES, FILTER_BYTES, INET_BYTES, LOCK_BYTES = 32 << 10, 1 << 10, 256, 128 << 10, 4096, 256
ANY_LIMIT = 1 << 62
LEAST_AVAILABLE = 128 << 20
THREADS = re.compile(rb"^Threads:\s+(\d+)$", re.MULTILINE)
FILTERS = re.compile(rb"^Seccomp_filters:\s+(\d+)$", re.MULTILINE)
LOCK = re.compile(rb"^\d+: (?:-> )?\S+ +\S+ +\S+ +(\d+) ", re.MULTILINE)
PRIVATE = re.compile(rb"^(?:RssAnon|VmSwap|VmPTE|HugetlbPages):\s+(\d+) kB$", re.MULTILINE)
AVAILABLE = re.compile(rb"^(MemTotal|MemAvailable):\s+(\d+) kB$", re.MULTILINE)
REMOVED = b" (deleted)\n"
EPOLL = "anon_inode:[eventpoll]"
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
    """Measure processes and what the kernel holds for them, excluding shared memory; sockets and pipes count as full.

    `own` are directories of these processes: files removed from there also count while they are mapped or executed.
    Processes with more mappings, or watches of epolls, than fit into MAPS_BYTES use more memory than any limit.
    """
    memory, left = 0, MAPS_BYTES
    kernel_memory, hidden = dict[int, int](), set[int]()
    files, mappings = dict[tuple[int, int], int](), dict[int, int]()
    below = tuple(os.fsencode(f"{place}/") for place in own)
    for process in processes:
        facts = _facts_of(process)
        memory += 1024 * sum(map(int, PRIVATE.findall(facts.status))) + _kernel_bytes(facts.status)
        maps = _read_maps(facts.place, left)
        left -= len(maps)
        memory += MAPPING_BYTES * maps.count(b"\n")
        if REMOVED in maps:
            _add_removed(mappings, maps, below)
        try:
            for path, file in _files_in_use(facts.place):
                memory += FILE_BYTES
                if stat.S_IFMT(file.st_mode) == 0:  # an object of the kernel without a name
                    watches = _read_watches(path, left)
                    left -= len(watches)
                    memory += WATCH_BYTES * watches.count(b"tfd:")
                elif stat.S_ISSOCK(file.st_mode) or stat.S_ISFIFO(file.st_mode):
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
    return _read_chunks(f"{place}/maps", most)


def _read_chunks(path: str, most: int) -> bytes:
    """Read at most about `most` bytes of a file in /proc; the kernel returns a page per call."""
    chunks, size = [], 0
    with suppress(OSError), open(path, "rb", buffering=0) as file:
        while size < most and (chunk := file.read(MAPS_CHUNK)):
            chunks.append(chunk)
            size += len(chunk)
    return b"".join(chunks)


def _add_removed(mappings: dict[int, int], maps: bytes, below: tuple[bytes, ...]) -> None:
    for start, end, offset, inode, path in REMOVED_MAPPING.findall(maps):
        if path.startswith(below):
            size = int(offset, 16) + int(end, 16) - int(start, 16)
            mappings[int(inode)] = max(size, mappings.get(int(inode), 0))


def _kernel_bytes(status: bytes) -> int:
    """Return the memory of the threads of a process, and of filters that its first thread has added."""
    threads, filters = THREADS.search(status), FILTERS.search(status)
    added = max(0, int(filters[1]) - _usual_filters()) if filters else 0
    return TASK_BYTES * (int(threads[1]) if threads else 0) + FILTER_BYTES * added


@functools.cache
def _usual_filters() -> int:
    """Return the number of filters of a command: those of this process, and that of the sandbox."""
    own = FILTERS.search(read_proc_file("/proc/self/status"))
    return 1 + (int(own[1]) if own else 0)


def _read_watches(path: str, most: int) -> bytes:
    """Read at most about `most` bytes of what an epoll watches; b"" for other objects."""
    with suppress(OSError):
        if os.readlink(path) == EPOLL:
            return _read_chunks(path.replace("/fd/", "/fdinfo/"), most)
    return b""


def _files_in_use(place: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the open files of a process, its directory and its program, with their paths in /proc."""
    with suppress(FileNotFoundError, ProcessLookupError):
        for name in ("cwd", "exe", *(f"fd/{number}" for number in os.listdir(f"{place}/fd"))):
            with suppress(FileNotFoundError):
                path = f"{place}/{name}"
                yield path, os.stat(path)


def queued_bytes() -> int:
    """Return the kernel's memory for sockets of this network namespace and their data, also if nobody accepted them."""
    pairs = [pair for path in QUEUES for pair in QUEUED.findall(read_proc_file(path))]
    return INET_BYTES * len(pairs) + ALLOCATED_PER_BYTE * sum(int(queue, 16) for pair in pairs for queue in pair)


def lock_bytes(processes: Container[int], locks: str = "/proc/locks") -> int:
    """Return the kernel's memory for locks of processes on files."""
    return LOCK_BYTES * sum(int(owner) in processes for owner in LOCK.findall(read_proc_file(locks)))


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
