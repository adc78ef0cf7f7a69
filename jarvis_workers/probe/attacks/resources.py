"""Attacks that exceed resource limits. Each runs alone and succeeds by running to completion."""

import contextlib
import ctypes
import mmap
import os
import resource
import signal
import socket
import time
from collections.abc import Callable

from jarvis_workers.probe.attacks.target import Target
from jarvis_workers.sandbox.limits import MEGABYTE, SandboxLimits

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
SAMPLE_SECONDS = 2.5
PR_SET_DUMPABLE = 4


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
        descriptors.append(os.open(t.own(f"unnamed{number}"), os.O_WRONLY | os.O_CREAT))
        os.unlink(t.own(f"unnamed{number}"))
        os.write(descriptors[-1], b"x" * (3 * MEGABYTE))
    time.sleep(SAMPLE_SECONDS)
    return True


def write_files_without_a_name_and_hide_them(t: Target) -> bool:
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)
    return write_files_without_a_name(t)


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
    time.sleep(SAMPLE_SECONDS)
    return True


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


def _fill(path: str, size: int) -> int:
    with open(path, "wb", buffering=0) as file:
        while file.tell() < size:
            file.write(b"x" * MEGABYTE)
        return file.tell()
