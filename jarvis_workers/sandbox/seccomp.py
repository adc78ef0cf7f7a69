"""The seccomp filter: which system calls are allowed or refused, and the BPF program that decides.

Landlock controls opening, creating and removing files. This filter covers the rest: the network, other processes,
attributes of files. Its rules refuse calls with a reason that programs understand, or by their arguments; all calls
that are not in the list of allowed ones (syscalls.py) fail with ENOSYS.
"""

import errno
import itertools
import struct
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from jarvis_workers.sandbox.syscalls import ALLOWED, Architecture

ALLOW = 0x7FFF0000
ASK = 0x7FC00000
REFUSE = 0x00050000
KILL = 0x80000000
NOT_PERMITTED = REFUSE | errno.EPERM
NOT_THERE = REFUSE | errno.ENOSYS
# Of such files: callers such as grep then read and write.
NOT_FOR_FILE = REFUSE | errno.EINVAL
NO_SUCH_DEVICE_CALL = REFUSE | errno.ENOTTY
NOT_SUPPORTED = REFUSE | errno.EOPNOTSUPP
DONE_NOTHING = REFUSE | 0

LOAD, MASK, JUMP_IF_EQUAL, JUMP_IF_GREATER, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x25, 0x35, 0x06
NUMBER_AT, MACHINE_AT, ARGUMENTS_AT = 0, 4, 16
EVERY_BIT = 0xFFFFFFFF

NEW_NAMESPACES = 0x7E020000
# CLONE_FILES, CLONE_THREAD
SHARED_FILES, NEW_THREAD = 0x400, 0x10000
# The descriptor over which the filter itself is sent to the supervisor; a command may open only lower ones.
STATUS_DESCRIPTOR = 300
# The personalities that programs need: none, without randomized addresses (AddressSanitizer), and the current one.
PERSONALITIES = (0, 0x0040000, 0xFFFFFFFF)
STREAM_OF_UNIX = (1, 1)
# Passes SOCK_STREAM (1) and SOCK_SEQPACKET (5), over which cargo starts rustc; other kinds differ in these bits.
KIND_OF_SOCKET = 0xB
ONE_PROCESS = 0
ONE_PROCESS_OF_IO = 1
OPEN_MODE, TRUNCATES = 0o3 | 0o1000, 0o1000
# F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY
OWNER_CALLS = (8, 10, 15, 1024, 1026)
# F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
LOCK_CALLS = (6, 7, 37, 38)
# SO_SNDBUF, SO_RCVBUF and their FORCE variants: a socket's memory is counted as if its buffers had the default size.
BUFFER_SIZES = (7, 8, 32, 33)
MAP_SHARED, F_SETPIPE_SZ = 1, 1031
# From linux/socket.h and linux/in.h.
AF_INET, AF_INET6, SOCK_STREAM, SOCK_DGRAM, KIND_BITS = 2, 10, 1, 2, 0xF
IPPROTO_IP, IPPROTO_TCP, IPPROTO_UDP, TCP_ULP = 0, 6, 17, 31
# From asm-generic/ioctls.h: calls on terminals and pipes, non-blocking mode and close-on-exec.
TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD = 0x5401, 0x5413, 0x540F, 0x541B
FIONBIO, FIONCLEX, FIOCLEX = 0x5421, 0x5450, 0x5451
# From linux/fs.h: clone a file so that the copy shares its blocks.
FICLONE, FICLONERANGE = 0x40049409, 0x4020940D
DEVICE_CALLS = (TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FICLONE, FICLONERANGE)


class Test(NamedTuple):
    """A condition: the low 32 bits of an argument, masked, are equal to a value (or differ from it)."""

    argument: int
    value: int
    same: bool = True
    mask: int = EVERY_BIT


class SyscallRule(NamedTuple):
    """The answer to system calls whose arguments pass all tests."""

    calls: str
    answer: int
    tests: tuple[Test, ...] = ()


DEFAULT_BUFFERS = tuple(SyscallRule("setsockopt", DONE_NOTHING, (Test(2, number),)) for number in BUFFER_SIZES)
# Messages pass descriptors over local sockets.
MESSAGES = (
    SyscallRule("sendmsg", NOT_PERMITTED, (Test(0, STATUS_DESCRIPTOR, same=False),)),
    SyscallRule("sendmmsg", NOT_PERMITTED),
)
GROUPS: dict[str, tuple[SyscallRule, ...]] = {
    "network": (
        SyscallRule("socket connect bind listen accept accept4", NOT_PERMITTED),
        SyscallRule("socketpair", NOT_PERMITTED, (Test(0, STREAM_OF_UNIX[0], same=False),)),
        *DEFAULT_BUFFERS,
        SyscallRule("socketpair", NOT_PERMITTED, (Test(1, STREAM_OF_UNIX[1], same=False, mask=KIND_OF_SOCKET),)),
    ),
    "io_uring": (SyscallRule("io_uring_setup io_uring_enter io_uring_register", NOT_THERE),),
    "tracing": (
        SyscallRule("ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd", NOT_PERMITTED),
        SyscallRule("process_madvise process_mrelease", NOT_PERMITTED),
    ),
    "keyrings": (SyscallRule("add_key request_key keyctl", NOT_PERMITTED),),
    "kernel": (
        SyscallRule("bpf perf_event_open userfaultfd open_by_handle_at name_to_handle_at syslog", NOT_PERMITTED),
        SyscallRule("kexec_load kexec_file_load init_module finit_module delete_module reboot", NOT_PERMITTED),
        SyscallRule("swapon swapoff acct quotactl quotactl_fd ioperm iopl vhangup", NOT_PERMITTED),
        SyscallRule("settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname", NOT_PERMITTED),
        SyscallRule("lookup_dcookie memfd_secret modify_ldt", NOT_THERE),
        SyscallRule("personality", NOT_PERMITTED, tuple(Test(0, value, same=False) for value in PERSONALITIES)),
        # A filter by prctl stays, which only refuses more: the runtime of slots confines functions by one.
        SyscallRule("seccomp", NOT_THERE),
    ),
    "namespaces": (
        SyscallRule("unshare setns mount umount2 pivot_root chroot", NOT_PERMITTED),
        SyscallRule("open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr", NOT_PERMITTED),
        SyscallRule("clone", NOT_PERMITTED, (Test(0, 0, same=False, mask=NEW_NAMESPACES),)),
        SyscallRule("clone3", NOT_THERE),
    ),
    "attributes": (
        SyscallRule("chmod fchmod fchmodat utimensat", ASK),
        SyscallRule("utime utimes futimesat", NOT_THERE),
        SyscallRule("chown fchown lchown fchownat", NOT_PERMITTED),
        SyscallRule("setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr", NOT_SUPPORTED),
        # Landlock does not control them, so they would read attributes of all files of the machine.
        SyscallRule("getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr", NOT_SUPPORTED),
    ),
    "shared memory": (
        SyscallRule("shmget shmat shmctl semget semop semtimedop semctl", NOT_THERE),
        SyscallRule("msgget msgsnd msgrcv msgctl mq_open mq_unlink memfd_create vmsplice", NOT_THERE),
        SyscallRule("mmap", ASK, (Test(3, MAP_SHARED, mask=MAP_SHARED),)),
        # A pipe counts as one of the default size.
        SyscallRule("fcntl", NOT_PERMITTED, (Test(1, F_SETPIPE_SZ),)),
    ),
    # fallocate allocates gigabytes at once; posix_fallocate falls back to writing, which is detected in time. Messages,
    # pipes, Landlock rules and asynchronous requests would hold removed files or their pages where /proc shows none.
    "disk": (
        SyscallRule("fallocate", NOT_SUPPORTED),
        *MESSAGES,
        SyscallRule("landlock_create_ruleset landlock_add_rule landlock_restrict_self", NOT_SUPPORTED),
        SyscallRule("splice tee", NOT_FOR_FILE),
        # A thread with open files of its own.
        SyscallRule("clone", NOT_PERMITTED, (Test(0, NEW_THREAD, mask=NEW_THREAD | SHARED_FILES),)),
        SyscallRule("io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents", NOT_THERE),
    ),
    "locks": (SyscallRule("flock", ASK), *(SyscallRule("fcntl", ASK, (Test(1, number),)) for number in LOCK_CALLS)),
    "watching": (SyscallRule("inotify_init inotify_init1 fanotify_init", NOT_THERE),),
    "other processes": (
        SyscallRule(
            "prlimit64 sched_setscheduler sched_setparam sched_setaffinity", NOT_PERMITTED, (Test(0, 0, same=False),)
        ),
        SyscallRule("sched_setattr migrate_pages move_pages", NOT_PERMITTED, (Test(0, 0, same=False),)),
        SyscallRule("setpriority", NOT_PERMITTED, (Test(0, ONE_PROCESS, same=False),)),
        SyscallRule("ioprio_set", NOT_PERMITTED, (Test(0, ONE_PROCESS_OF_IO, same=False),)),
        SyscallRule("setpriority ioprio_set", NOT_PERMITTED, (Test(1, 0, same=False),)),
        *(SyscallRule("fcntl", NOT_PERMITTED, (Test(1, number),)) for number in OWNER_CALLS),
    ),
    "devices": (
        SyscallRule("ioctl", NO_SUCH_DEVICE_CALL, tuple(Test(1, number, same=False) for number in DEVICE_CALLS)),
    ),
}
# For commands that use the loopback interface of a network namespace of their own: TCP and UDP, but no local sockets,
# so that messages pass no descriptors. The exit codes of all processes are recorded.
LOOPBACK: dict[str, tuple[SyscallRule, ...]] = {
    "network": (
        SyscallRule("socket", NOT_PERMITTED, tuple(Test(0, number, same=False) for number in (AF_INET, AF_INET6))),
        SyscallRule(
            "socket",
            NOT_PERMITTED,
            tuple(Test(1, kind, same=False, mask=KIND_BITS) for kind in (SOCK_STREAM, SOCK_DGRAM)),
        ),
        SyscallRule(
            "socket",
            NOT_PERMITTED,
            tuple(Test(2, number, same=False) for number in (IPPROTO_IP, IPPROTO_TCP, IPPROTO_UDP)),
        ),
        SyscallRule("socketpair", NOT_PERMITTED),
        # An upper layer protocol, whose module the kernel would load.
        SyscallRule("setsockopt", NOT_PERMITTED, (Test(1, IPPROTO_TCP), Test(2, TCP_ULP))),
        *DEFAULT_BUFFERS,
    ),
    "disk": tuple(rule for rule in GROUPS["disk"] if rule not in MESSAGES),
    "exits": (SyscallRule("exit_group", ASK),),
}
# Rules for kernels whose Landlock is older than the version of the key: calls that only newer ones control.
BEFORE: dict[int, tuple[SyscallRule, ...]] = {
    3: (
        SyscallRule("truncate", NOT_PERMITTED),
        SyscallRule("openat2", NOT_THERE),
        SyscallRule("open", NOT_PERMITTED, (Test(1, TRUNCATES, mask=OPEN_MODE),)),
        SyscallRule("openat", NOT_PERMITTED, (Test(2, TRUNCATES, mask=OPEN_MODE),)),
    ),
    6: (SyscallRule("kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal", ASK),),
}
# Two checks that are not groups of calls: other architectures, and calls that are not in the list.
MACHINES = "architectures"
NUMBERS = "other calls"
NAMES = (*GROUPS, MACHINES, NUMBERS)


def program(machine: Architecture, landlock: int, without: Iterable[str] = (), *, loopback: bool = False) -> bytes:
    """Return the BPF program for an architecture and a Landlock version, omitting the named groups."""
    left_out = frozenset(without)
    groups = GROUPS | LOOPBACK if loopback else GROUPS
    rules = [rule for name, group in groups.items() if name not in left_out for rule in group]
    rules += [rule for version, group in BEFORE.items() if landlock < version for rule in group]
    steps = [_step(LOAD, MACHINE_AT), _step(JUMP_IF_EQUAL, machine.audit, 1, 0)]
    steps += [_step(RETURN, ALLOW if MACHINES in left_out else KILL), _step(LOAD, NUMBER_AT)]
    for rule in rules:
        for name in rule.calls.split():
            if name in machine.numbers:
                steps += _refuse(machine.numbers[name], rule)
    if NUMBERS in left_out:
        return b"".join([*steps, _step(RETURN, ALLOW)])
    omitted = {name for group in left_out & groups.keys() for rule in groups[group] for name in rule.calls.split()}
    numbers = {machine.numbers[name] for name in ALLOWED | omitted if name in machine.numbers}
    return b"".join([*steps, *_allow(numbers), _step(RETURN, NOT_THERE)])


def _allow(numbers: Collection[int]) -> Iterator[bytes]:
    """Yield the instructions that allow call numbers, three for each range of numbers without a gap."""
    for first in sorted(number for number in numbers if number - 1 not in numbers):
        last = next(number for number in itertools.count(first) if number + 1 not in numbers)
        yield _step(JUMP_IF_AT_LEAST, first, 0, 2)
        yield _step(JUMP_IF_GREATER, last, 1, 0)
        yield _step(RETURN, ALLOW)


def _refuse(number: int, rule: SyscallRule) -> Iterator[bytes]:
    """Yield the instructions of a rule for one call number, which is in the accumulator before and after."""
    body = [step for place, test in enumerate(rule.tests, 1) for step in _test(test, len(rule.tests) - place)]
    body.append(_step(RETURN, rule.answer))
    if rule.tests:
        body.append(_step(LOAD, NUMBER_AT))
    yield _step(JUMP_IF_EQUAL, number, 0, len(body))
    yield from body


def _test(test: Test, left: int) -> list[bytes]:
    """Return three instructions that jump past the answer if the test fails; `left` more tests follow."""
    out = left * 3 + 1
    return [
        _step(LOAD, ARGUMENTS_AT + 8 * test.argument),
        _step(MASK, test.mask),
        _step(JUMP_IF_EQUAL, test.value, 0 if test.same else out, out if test.same else 0),
    ]


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
