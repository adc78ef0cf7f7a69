"""Attacks on other processes and on kernel interfaces that no command needs."""

import ctypes
import fcntl
import mmap
import os
import platform
import signal
import socket
import struct
from collections.abc import Callable

from jarvis_workers.sandbox.probe.attacks.target import Target, call

NEW_USER = 0x10000000
TRACE_ME, SEIZE = 0, 0x4206
USER_MODE_ONLY = 1
SOFTWARE_CLOCK = 1
EXCLUDE_KERNEL = 1 << 5
REPORT_FILES = 0x200
PROCESS_KEYRING = -2
CREATED = 0o1600
X32 = 0x40000000
X32_GETPID = X32 | 39
IO_URING_PARAMETERS = 120
SYNC, SET_MEMPOLICY = {"x86_64": 162, "aarch64": 81}, {"x86_64": 238, "aarch64": 237}
READ_IMPLIES_EXEC = 0x0400000


def _in_a_child(work: Callable[[], object]) -> bool:
    """Return whether the work succeeds in a child process, whose exit reverts it."""
    if not (child := os.fork()):
        try:
            work()
            os._exit(0)
        except OSError:
            os._exit(1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def signal_a_process(t: Target) -> bool:
    os.kill(t.process, signal.SIGCONT)
    return True


def signal_the_keeper(t: Target) -> bool:
    os.kill(t.parent, signal.SIGCONT)
    return True


def signal_through_a_descriptor(t: Target) -> bool:
    signal.pidfd_send_signal(os.pidfd_open(t.process), signal.SIGCONT)
    return True


def have_a_process_signalled(t: Target) -> bool:
    reading, _writing = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, t.process)
    fcntl.fcntl(reading, 10, signal.SIGCONT)
    return fcntl.fcntl(reading, fcntl.F_GETOWN) == t.process


def hold_up_who_opens_a_file(t: Target) -> bool:
    descriptor = os.open(t.inside(hold_up_who_opens_a_file), os.O_RDONLY)
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    return True


def trace_a_process(t: Target) -> bool:
    return _in_a_child(lambda: call("ptrace", SEIZE, t.process, 0, 0))


def be_traced(_: Target) -> bool:
    return _in_a_child(lambda: call("ptrace", TRACE_ME, 0, 0, 0))


def limit_a_process(t: Target) -> bool:
    limit = ctypes.create_string_buffer(16)
    call("prlimit64", t.process, 4, None, limit)
    call("prlimit64", t.process, 4, limit, None)
    return True


def slow_a_process(t: Target) -> bool:
    os.setpriority(os.PRIO_PROCESS, t.process, os.getpriority(os.PRIO_PROCESS, t.process) + 1)
    return True


def bind_a_process_to_a_processor(t: Target) -> bool:
    os.sched_setaffinity(t.process, {0})
    return True


def slow_the_disk_of_a_process(t: Target) -> bool:
    call("ioprio_set", 1, t.process, 3 << 13)
    return True


def compare_processes(t: Target) -> bool:
    call("kcmp", os.getpid(), os.getpid(), 1, 0, 0)
    return True


def make_a_namespace(_: Target) -> bool:
    return _in_a_child(lambda: call("unshare", NEW_USER))


def be_born_in_a_namespace(_: Target) -> bool:
    return _born(lambda: call("clone", NEW_USER | signal.SIGCHLD, 0, 0, 0, 0))


def be_born_in_a_namespace_in_the_new_way(_: Target) -> bool:
    arguments = struct.pack("11Q", NEW_USER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0)
    return _born(lambda: call("clone3", arguments, len(arguments)))


def _born(clone: Callable[[], int]) -> bool:
    child = clone()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def open_io_uring(_: Target) -> bool:
    return call("io_uring_setup", 4, ctypes.create_string_buffer(IO_URING_PARAMETERS)) > 0


def add_a_key(_: Target) -> bool:
    return call("add_key", b"user", b"jarvis-probe", b"x", 1, PROCESS_KEYRING) > 0


def find_the_keyring_of_the_user(_: Target) -> bool:
    return call("keyctl", 0, -4, 1) > 0


def load_a_program_of_the_kernel(_: Target) -> bool:
    attributes = struct.pack("IIII", 2, 4, 8, 1).ljust(72, b"\0")
    return call("bpf", 0, attributes, len(attributes)) > 0


def handle_page_faults(_: Target) -> bool:
    return call("userfaultfd", USER_MODE_ONLY) > 0


def count_events(_: Target) -> bool:
    arguments = struct.pack("IIQQQQQ", 1, 64, SOFTWARE_CLOCK, 0, 0, 0, EXCLUDE_KERNEL).ljust(64, b"\0")
    return call("perf_event_open", arguments, 0, -1, -1, 0) > 0


def read_the_log_of_the_kernel(_: Target) -> bool:
    return call("syslog", 3, ctypes.create_string_buffer(64), 64) >= 0


def watch_a_file(t: Target) -> bool:
    library = ctypes.CDLL(None)
    return bool(library.inotify_add_watch(library.inotify_init1(0), t.out(watch_a_file).encode(), 4) >= 0)


def watch_all_files(_: Target) -> bool:
    return call("fanotify_init", REPORT_FILES, 0) > 0


def make_a_file_in_memory(_: Target) -> bool:
    return os.memfd_create("probe") > 0


def share_memory(_: Target) -> bool:
    place = call("shmget", 0, 4096, CREATED)
    call("shmctl", place, 0, 0)
    return True


def open_a_queue(_: Target) -> bool:
    name = f"jarvis-probe-{os.getpid()}".encode()
    call("mq_open", name, os.O_CREAT | os.O_RDWR, 0o600, None)
    call("mq_unlink", name)
    return True


def call_as_x32(_: Target) -> bool:
    return call(X32_GETPID) > 0


def call_as_32_bits(_: Target) -> bool:
    """Create a socket through the i386 system call table: int 0x80 with its call numbers."""
    if platform.machine() != "x86_64":
        return False
    code = bytes.fromhex("53 b8 67010000 bb 01000000 b9 01000000 31d2 cd80 5b c3".replace(" ", ""))
    return _run_machine_code(code) > 0


def _run_machine_code(code: bytes) -> int:
    with mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as memory:
        memory.write(code)
        place = ctypes.c_char.from_buffer(memory)
        answer: int = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(place))()
        del place
    return answer


def start_a_thread_with_files_of_its_own(_: Target) -> bool:
    """Start a thread that does not share the open files, which /proc/PID/fd would not show; it exits at once."""
    if platform.machine() != "x86_64":
        return False
    code = bytes.fromhex("b838000000 bf00090100 31f6 0f05 85c0 7509 b83c000000 31ff 0f05 c3".replace(" ", ""))
    return _run_machine_code(code) > 0


def change_the_personality(_: Target) -> bool:
    return call("personality", READ_IMPLIES_EXEC) >= 0


def read_the_local_descriptor_table(_: Target) -> bool:
    return call("modify_ldt", 0, ctypes.create_string_buffer(64), 64) >= 0


def request_asynchronously(_: Target) -> bool:
    return call("io_setup", 1, ctypes.create_string_buffer(8)) == 0


def filter_its_own_calls(_: Target) -> bool:
    return _in_a_child(lambda: _filter_calls(lambda steps: call("seccomp", 1, 0, steps)))


def _filter_calls(install: Callable[[bytes], int]) -> None:
    allow = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000), 8)
    call("prctl", 38, 1, 0, 0, 0)
    install(struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)))


def restrict_its_own_files(_: Target) -> bool:
    return call("landlock_create_ruleset", struct.pack("Q", 1), 8, 0) > 0


def send_a_descriptor(_: Target) -> bool:
    ends = socket.socketpair()
    return socket.send_fds(ends[0], [b"x"], [0]) > 0


def splice_a_file(t: Target) -> bool:
    source, (_reading, writing) = os.open(t.inside(splice_a_file), os.O_RDONLY), os.pipe()
    return call("splice", source, None, writing, None, 1, 0) == 1


def write_out_all_disks(_: Target) -> bool:
    """Make the machine wait for its disks, by a call that no rule names."""
    return call(SYNC[platform.machine()]) == 0


def choose_the_memory_of_a_node(_: Target) -> bool:
    return call(SET_MEMPOLICY[platform.machine()], 0, None, 0) == 0
