"""Attacks that exceed resource limits. Each runs alone and succeeds by running to completion."""

import contextlib
import ctypes
import fcntl
import mmap
import os
import platform
import resource
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable

from jarvis_workers.sandbox.limits import MEGABYTE, SandboxLimits
from jarvis_workers.sandbox.probe.attacks.target import Target, call

# The limits set by the probe; each attack exceeds one of them.
LIMITS = SandboxLimits(
    wall_seconds=3,
    cpu_seconds=1,
    memory_bytes=256 * MEGABYTE,
    processes=24,
    file_bytes=4 * MEGABYTE,
    files=64,
    scratch_bytes=24 * MEGABYTE,
    output_bytes=256 * 1024,
)
# Seconds for which an excess is held, so that the supervisor can observe it.
SAMPLE_SECONDS, START_SECONDS = 2.5, 0.2
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
EXIT_BY_MACHINE = {"x86_64": 60, "aarch64": 93}
NO_ADDRESS = (1 << 64) - 1
MAPPED_PAGES = 40_000
MANY_SIGNALS = 5000


def never_end(_: Target) -> bool:
    time.sleep(LIMITS.wall_seconds + 1)
    return True


def use_the_processor(_: Target) -> bool:
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while time.process_time() < LIMITS.cpu_seconds + 1.5:
        pass
    return True


def take_memory(_: Target) -> bool:
    memory = bytearray(LIMITS.memory_bytes + MEGABYTE)
    return len(memory) > LIMITS.memory_bytes


def take_memory_in_many_processes(_: Target) -> bool:
    children = [_hold(lambda: bytearray(os.urandom(1) * (LIMITS.memory_bytes // 4))) for _ in range(6)]
    time.sleep(SAMPLE_SECONDS)
    return len(children) == 6


def share_memory_of_many_processes(_: Target) -> bool:
    def share() -> object:
        memory = mmap.mmap(-1, LIMITS.memory_bytes // 4)
        memory.write(bytes(len(memory)))
        return memory

    children = [_hold(share) for _ in range(6)]
    time.sleep(SAMPLE_SECONDS)
    return len(children) == 6


def fill_socket_pairs(_: Target) -> bool:
    """Fill socket buffers: data that is sent but not received is kernel memory."""

    def fill() -> object:
        ends = [end for _ in range(LIMITS.files // 2 - 4) for end in socket.socketpair()]
        for end in ends:
            end.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    end.send(bytes(1 << 16))
        return ends

    children = [_hold(fill) for _ in range(LIMITS.processes - 4)]
    time.sleep(SAMPLE_SECONDS)
    return len(children) == LIMITS.processes - 4


def fork_without_end(_: Target) -> bool:
    return len([_hold(lambda: None) for _ in range(LIMITS.processes + 8)]) > LIMITS.processes


def write_a_large_file(t: Target) -> bool:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    return _fill(t.own(write_a_large_file), LIMITS.file_bytes + MEGABYTE) > LIMITS.file_bytes


def open_many_files(_: Target) -> bool:
    return len([os.open("/dev/null", os.O_RDONLY) for _ in range(LIMITS.files + 1)]) > LIMITS.files


def write_many_files(t: Target) -> bool:
    for number in range(10):
        _fill(t.own(f"many{number}"), 3 * MEGABYTE)
    time.sleep(SAMPLE_SECONDS)
    return True


def write_files_without_a_name(t: Target) -> bool:
    descriptors = []
    for number in range(10):
        descriptors.append(_written(t.own(f"unnamed{number}")))
    time.sleep(SAMPLE_SECONDS)
    return True


def write_files_without_a_name_and_hide_them(t: Target) -> bool:
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)
    return write_files_without_a_name(t)


def write_temporary_files(t: Target) -> bool:
    descriptors = [os.open(t.scratch, os.O_WRONLY | os.O_TMPFILE) for _ in range(10)]
    for descriptor in descriptors:
        os.write(descriptor, b"x" * (3 * MEGABYTE))
    time.sleep(SAMPLE_SECONDS)
    return True


def write_files_that_are_only_mapped(t: Target) -> bool:
    """Fill mappings of removed and closed files, which are no longer among the open files of a process."""
    mappings = []
    for number in range(10):
        descriptor = _unnamed(t.own(f"mapped{number}"))
        os.ftruncate(descriptor, 3 * MEGABYTE)
        mappings.append(_mapped(descriptor, 3 * MEGABYTE, mmap.MAP_SHARED))
        ctypes.memset(mappings[-1], 1, 3 * MEGABYTE)
        os.close(descriptor)
    time.sleep(SAMPLE_SECONDS)
    return True


def write_files_of_which_a_page_is_mapped(t: Target) -> bool:
    for number in range(60):
        descriptor = _unnamed(t.own(f"page{number}"))
        os.write(descriptor, b"x" * (3 * MEGABYTE))
        _mapped(descriptor, mmap.PAGESIZE, mmap.MAP_PRIVATE)
        os.close(descriptor)
    time.sleep(SAMPLE_SECONDS)
    return True


def write_files_into_messages(t: Target) -> bool:
    """Send removed files over a socket pair and close them: a message in a queue keeps them."""
    ends = socket.socketpair()
    for number in range(10):
        descriptor = _unnamed(t.own(f"sent{number}"))
        os.write(descriptor, b"x" * (3 * MEGABYTE))
        socket.send_fds(ends[0], [b"x"], [descriptor])
        os.close(descriptor)
    time.sleep(SAMPLE_SECONDS)
    return True


def write_files_that_rules_keep(t: Target) -> bool:
    """Use removed files in a rule set of Landlock, which keeps them."""
    ruleset = call("landlock_create_ruleset", struct.pack("Q", 4), 8, 0)
    for number in range(10):
        descriptor = _unnamed(t.own(f"ruled{number}"))
        os.write(descriptor, b"x" * (3 * MEGABYTE))
        call("landlock_add_rule", ruleset, 1, struct.pack("=Qi", 4, descriptor), 0)
        os.close(descriptor)
    time.sleep(SAMPLE_SECONDS)
    return True


def write_files_in_a_thread_that_remains(t: Target) -> bool:
    """Write in a process whose first thread has ended: /proc/PID then shows neither files nor memory."""
    child = _hold_in_a_thread(lambda: [_written(t.own(f"thread{number}")) for number in range(10)])
    time.sleep(SAMPLE_SECONDS)
    return _lives(child)


def take_memory_in_threads_that_remain(_: Target) -> bool:
    children = [_hold_in_a_thread(lambda: bytearray(os.urandom(1) * (LIMITS.memory_bytes // 8))) for _ in range(12)]
    time.sleep(SAMPLE_SECONDS)
    return all(map(_lives, children))


def pass_files_from_child_to_child(t: Target) -> bool:
    """Fork and exit continuously, so that no process with the files is there when its turn comes."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    first, end = os.fork(), time.monotonic() + SAMPLE_SECONDS
    if first:
        return _reap_all() >= 2
    files = [_written(t.own(f"passed{number}")) for number in range(10)]
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
    os._exit(1 if len(files) == 10 else 0)


def _reap_all() -> int:
    """Wait for all children, orphans among them; return the sum of their exit codes."""
    total = 1
    with contextlib.suppress(ChildProcessError):
        while True:
            total += os.waitstatus_to_exitcode(os.wait()[1])
    return total


def map_without_end(_: Target) -> bool:
    """Take kernel memory by mappings of a page each."""
    place = _mapped(-1, MAPPED_PAGES * mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    protect = ctypes.CDLL(None).mprotect
    for page in range(place, place + MAPPED_PAGES * mmap.PAGESIZE, 2 * mmap.PAGESIZE):
        protect(ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ)
    children = [_hold(lambda: place) for _ in range(LIMITS.processes - 4)]
    time.sleep(SAMPLE_SECONDS)
    return len(children) == LIMITS.processes - 4


def write_behind_a_closed_directory(t: Target) -> bool:
    place = t.own("closed")
    os.mkdir(place)
    for number in range(10):
        _fill(f"{place}/{number}", 3 * MEGABYTE)
    os.chmod(place, 0)
    time.sleep(SAMPLE_SECONDS)
    return True


def write_many_names(t: Target) -> bool:
    for number in range(LIMITS.scratch_bytes // 4096 + 100):
        os.close(os.open(t.own(f"name{number}"), os.O_CREAT))
    time.sleep(SAMPLE_SECONDS)
    return True


def write_deep_down(t: Target) -> bool:
    os.chdir(t.scratch)
    for _ in range(1200):
        os.mkdir("deeper")
        os.chdir("deeper")
    for number in range(10):
        _fill(str(number), 3 * MEGABYTE)
    time.sleep(SAMPLE_SECONDS)
    return True


def queue_many_signals(_: Target) -> bool:
    """Take kernel memory by signals that are not delivered."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    queue = ctypes.CDLL(None).sigqueue
    return all(queue(os.getpid(), signal.SIGRTMIN, None) == 0 for _ in range(MANY_SIGNALS))


def enlarge_a_pipe(_: Target) -> bool:
    return fcntl.fcntl(os.pipe()[1], fcntl.F_SETPIPE_SZ, MEGABYTE) >= MEGABYTE


def allow_core_dumps(_: Target) -> bool:
    return resource.getrlimit(resource.RLIMIT_CORE)[1] != 0


def raise_the_limits(_: Target) -> bool:
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMITS.files * 2,) * 2)
    return True


def _hold(work: Callable[[], object]) -> int:
    """Start a process that does the work and then stays alive."""
    child = os.fork()
    if child:
        return child
    try:
        resource = work()
        time.sleep(20)
        del resource
    finally:
        os._exit(0)


def _hold_in_a_thread(work: Callable[[], object]) -> int:
    """Start a process that does the work in a second thread, whose first thread then ends."""

    def wait() -> None:
        time.sleep(START_SECONDS)
        resource = work()
        time.sleep(20)
        del resource

    child = os.fork()
    if not child:
        threading.Thread(target=wait).start()
        call(EXIT_BY_MACHINE[platform.machine()], 0)
    return child


def _lives(process: int) -> bool:
    return os.waitpid(process, os.WNOHANG) == (0, 0)


def _unnamed(path: str) -> int:
    """Return the descriptor of a new file without a name."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    os.unlink(path)
    return descriptor


def _written(path: str) -> int:
    descriptor = _unnamed(path)
    os.write(descriptor, b"x" * (3 * MEGABYTE))
    return descriptor


def _mapped(descriptor: int, size: int, kind: int) -> int:
    """Return the address of a mapping; Python's own would keep a descriptor."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
    place = library.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, kind, descriptor, 0)
    if place == NO_ADDRESS:
        raise OSError(ctypes.get_errno(), "mmap")
    return int(place)


def _fill(path: str, size: int) -> int:
    with open(path, "wb", buffering=0) as file:
        while file.tell() < size:
            file.write(b"x" * MEGABYTE)
        return file.tell()
