"""What processes take is seen in /proc: memory, full sockets, and files without a name."""

import ctypes
import fcntl
import mmap
import os
import platform
import select
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jarvis_workers.toolchain.usage import (
    ANY_LIMIT,
    LOCK_BYTES,
    MAPPING_BYTES,
    PIPE_BYTES,
    SOCKET_BYTES,
    TASK_BYTES,
    WATCH_BYTES,
    ProcessUsage,
    available_memory,
    lock_bytes,
    machine_is_short_of_memory,
    usage_of,
)
from tests.chaos.commands import until

MEGABYTE = 1 << 20
EXIT = {"x86_64": 60, "aarch64": 93}
# A removed file of four megabytes, of which pages are mapped up to its end.
MAP_AND_WAIT = """
import ctypes, os, sys, time
library = ctypes.CDLL(None)
library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.write(descriptor, bytes(4 << 20))
library.mmap(None, 1 << 20, 3, int(sys.argv[2]), descriptor, 3 << 20)
os.unlink(sys.argv[1])
if not sys.argv[3:]:
    os.close(descriptor)
print("ready", flush=True)
time.sleep(60)
"""
END_FIRST_THREAD = """
import ctypes, os, sys, threading, time
def work():
    descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
    os.unlink(sys.argv[1])
    os.write(descriptor, bytes(4 << 20))
    memory = b"x" * (20 << 20)
    print("ready", flush=True)
    time.sleep(60)
threading.Thread(target=work).start()
ctypes.CDLL(None).syscall(int(sys.argv[2]), 0)
"""

# Takes pipes, or divides a mapping into many, when a line comes: in a child, as pytest's own memory shrinks meanwhile.
TAKE_WHEN_ASKED = """
import ctypes, mmap, os, sys, time
what, number = sys.argv[1], int(sys.argv[2])
memory = mmap.mmap(-1, number * mmap.PAGESIZE)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
protect = ctypes.CDLL(None).mprotect
print("ready", flush=True)
sys.stdin.readline()
if what == "pipes":
    ends = [os.pipe() for _ in range(number)]
else:
    for page in range(0, number, 2):
        protect(ctypes.c_void_p(start + page * mmap.PAGESIZE), ctypes.c_size_t(1), mmap.PROT_READ)
print("taken", flush=True)
time.sleep(60)
"""


def test_private_memory_counts() -> None:
    before = usage_of([os.getpid()]).memory
    taken = b"x" * (40 * MEGABYTE)

    assert usage_of([os.getpid()]).memory - before > 30 * MEGABYTE
    assert len(taken) == 40 * MEGABYTE


def test_each_open_socket_counts_as_full_and_once() -> None:
    before = usage_of([os.getpid()]).memory
    pairs = [socket.socketpair() for _ in range(100)]
    again = [end.dup() for pair in pairs for end in pair]

    assert usage_of([os.getpid()]).memory - before == pytest.approx(200 * SOCKET_BYTES, rel=0.2)
    for end in [*again, *(end for pair in pairs for end in pair)]:
        end.close()


def test_a_file_without_a_name_counts_until_it_is_closed(tmp_path: Path) -> None:
    before = usage_of([os.getpid()]).unlinked  # pytest has such files, too
    with (tmp_path / "large").open("wb") as file:
        file.write(b"x" * MEGABYTE)
        file.flush()
        assert usage_of([os.getpid()]).unlinked - before < MEGABYTE
        (tmp_path / "large").unlink()
        assert usage_of([os.getpid()]).unlinked - before >= MEGABYTE
    assert usage_of([os.getpid()]).unlinked - before < MEGABYTE


@pytest.mark.parametrize("flags", [mmap.MAP_SHARED, mmap.MAP_PRIVATE])
def test_a_removed_file_counts_while_it_is_mapped(tmp_path: Path, flags: int) -> None:
    with started(MAP_AND_WAIT, tmp_path / "large", flags) as child:
        mapped = usage_of([child.pid], [str(tmp_path)])
        elsewhere = usage_of([child.pid], [str(tmp_path / "other")])

    assert (mapped.mapped, mapped.mapped_files) == (4 * MEGABYTE, 1)
    assert (elsewhere.mapped, elsewhere.mapped_files) == (0, 0)


def test_a_removed_file_that_is_open_and_mapped_counts_once(tmp_path: Path) -> None:
    with started(MAP_AND_WAIT, tmp_path / "large", mmap.MAP_SHARED, "open") as child:
        usage = usage_of([child.pid], [str(tmp_path)])

    assert usage.mapped_files == 0
    assert 4 * MEGABYTE <= usage.unlinked < 5 * MEGABYTE


def test_a_removed_program_counts_while_it_runs(tmp_path: Path) -> None:
    program = Path(shutil.copy(os.path.realpath(shutil.which("sleep") or "sleep"), tmp_path / "program"))
    size = program.stat().st_blocks * 512
    with subprocess.Popen([program, "60"]) as child:
        until(lambda: b"program" in Path(f"/proc/{child.pid}/cmdline").read_bytes())
        program.unlink()
        unlinked = usage_of([child.pid]).unlinked
        child.kill()

    assert unlinked >= size > 0


def test_files_and_memory_of_a_process_whose_first_thread_has_ended_count(tmp_path: Path) -> None:
    with started(END_FIRST_THREAD, tmp_path / "large", EXIT[platform.machine()]) as child:
        until(lambda: b"Z (zombie)" in Path(f"/proc/{child.pid}/status").read_bytes())
        usage = usage_of([child.pid])

    assert usage.unlinked >= 4 * MEGABYTE
    assert usage.memory >= 20 * MEGABYTE


def test_each_pipe_counts_as_full_and_once() -> None:
    with started(TAKE_WHEN_ASKED, "pipes", 200) as child:
        before, after = usage_of([child.pid]), usage_when_taken(child)

    assert after.memory - before.memory >= 200 * PIPE_BYTES


def test_mappings_count_as_memory() -> None:
    with started(TAKE_WHEN_ASKED, "mappings", 4_000) as child:
        before, after = usage_of([child.pid]), usage_when_taken(child)

    assert after.memory - before.memory >= 3_990 * MAPPING_BYTES


@pytest.mark.slow
def test_too_many_mappings_count_as_more_than_any_limit() -> None:
    with divided_memory(8_000):
        assert usage_of([os.getpid()] * 40).memory >= ANY_LIMIT


@contextmanager
def divided_memory(pages: int) -> Iterator[None]:
    """Have a mapping for each page of some memory, by protecting every second one."""
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        letter = ctypes.c_char.from_buffer(memory)
        for page in range(0, pages, 2):
            place = ctypes.c_void_p(ctypes.addressof(letter) + page * mmap.PAGESIZE)
            ctypes.CDLL(None).mprotect(place, ctypes.c_size_t(1), mmap.PROT_READ)
        yield
        del letter


@contextmanager
def started(program: str, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process that has done its work and waits."""
    command = [sys.executable, "-I", "-S", "-c", program, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout
        assert child.stdout.readline() == b"ready\n"
        yield child
        child.kill()


def usage_when_taken(child: subprocess.Popen[bytes]) -> ProcessUsage:
    """Let a child take what it is to take, and return what it uses then."""
    assert child.stdin
    assert child.stdout
    child.stdin.write(b"\n")
    child.stdin.flush()
    assert child.stdout.readline() == b"taken\n"
    return usage_of([child.pid])


def test_a_process_that_is_gone_takes_nothing() -> None:
    assert usage_of([1 << 30]) == ProcessUsage(0, 0, frozenset())


@pytest.mark.parametrize(("total", "available", "short"), [(24_000, 100, True), (24_000, 200, False), (500, 15, False)])
def test_little_available_memory_is_short(tmp_path: Path, total: int, available: int, short: bool) -> None:
    facts = tmp_path / "meminfo"
    facts.write_text(f"MemTotal:  {total * 1024} kB\nMemFree:  1 kB\nMemAvailable:  {available * 1024} kB\n")

    assert machine_is_short_of_memory(str(facts)) == short
    assert not machine_is_short_of_memory(str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("own", "directory", "limit", "usage"),
    [
        ("0::/\n", "", "memory.max", "memory.current"),
        ("0::/a/b\n", "a", "memory.max", "memory.current"),
        ("4:memory:/a\n0::/\n", "memory/a", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ],
)
def test_the_limit_of_a_container_is_what_is_available(
    own: str, directory: str, limit: str, usage: str, tmp_path: Path
) -> None:
    (tmp_path / "own").write_text(own)
    place = tmp_path / "groups" / directory
    place.mkdir(parents=True)
    (place / limit).write_text(f"{8 * MEGABYTE}\n")
    (place / usage).write_text(f"{5 * MEGABYTE}\n")

    assert available_memory(str(tmp_path / "groups"), str(tmp_path / "own")) == 3 * MEGABYTE


def test_without_limits_the_memory_of_the_machine_is_available(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("max\n")

    assert available_memory(str(tmp_path)) > 100 * MEGABYTE


def test_what_epolls_watch_counts() -> None:
    ends = [end for _ in range(50) for end in os.pipe()]
    polls = [select.epoll() for _ in range(40)]
    before = usage_of([os.getpid()]).memory
    for poll in polls:
        for end in ends:
            poll.register(end, select.EPOLLIN)
    after = usage_of([os.getpid()]).memory
    for end in ends:
        os.close(end)
    for poll in polls:
        poll.close()

    assert after - before >= 40 * 100 * WATCH_BYTES


def test_each_thread_counts() -> None:
    event = threading.Event()
    before = usage_of([os.getpid()]).memory
    threads = [threading.Thread(target=event.wait) for _ in range(20)]
    for thread in threads:
        thread.start()
    after = usage_of([os.getpid()]).memory
    event.set()
    for thread in threads:
        thread.join()

    assert after - before >= 20 * TASK_BYTES


def test_locks_on_files_count_for_their_processes(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file:
        for place in range(0, 200, 2):
            fcntl.lockf(file, fcntl.LOCK_EX, 1, place)

        assert lock_bytes({os.getpid()}) >= 100 * LOCK_BYTES
        assert lock_bytes({1 << 30}) == 0
