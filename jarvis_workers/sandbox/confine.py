"""Confine a forked process and exec the command: resource limits, then Landlock, then seccomp.

Any failure ends the process before the command starts.
"""

import ctypes
import os
import platform
import resource
import signal
import socket
import struct
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import NoReturn

from jarvis_workers.sandbox import kernel, landlock
from jarvis_workers.sandbox import seccomp as calls
from jarvis_workers.sandbox.protocol import GroupFiles, Request
from jarvis_workers.sandbox.syscalls import machine_of

SECCOMP_BY_MACHINE = {"x86_64": 317, "aarch64": 277}
SET_FILTER, NEW_LISTENER = 1, 8
NOT_FOUND, NOT_EXECUTABLE = 127, 126
MORE_THAN_ANY = 1 << 20
# Queued signals and timers of all commands of a user, which the kernel holds.
QUEUED_SIGNALS = 4096
# Written to cgroup.procs, it moves the writer.
THIS_PROCESS = b"0"

# Git refuses trees of other users unless they are listed as safe.
TRUSTED_BY_GIT = "[safe]\n\tdirectory = *\n"
HOME, TEMPORARY, WORK = "home", "tmp", "work"
# Where commands see their temporary directory in tier A.
PRIVATE_TEMPORARY = "/tmp"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
SYSTEM_FILES = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Its own mappings tell AddressSanitizer where the stack is.
FACTS = ("/proc/cpuinfo", "/proc/meminfo", "/proc/self/maps")

# Reports to the supervisor over the status socket.
LISTENS, FAILED, NO_COMMAND = b"L", b"F", b"N"

RESOURCES = {
    "memory": resource.RLIMIT_AS,
    "cpu": resource.RLIMIT_CPU,
    "processes": resource.RLIMIT_NPROC,
    "file size": resource.RLIMIT_FSIZE,
    "open files": resource.RLIMIT_NOFILE,
    "core dumps": resource.RLIMIT_CORE,
    "signals": resource.RLIMIT_SIGPENDING,
}
LANDLOCK, ENVIRONMENT, DESCRIPTORS = "landlock", "environment", "descriptors"
LAYERS = (LANDLOCK, ENVIRONMENT, DESCRIPTORS, *RESOURCES, *calls.NAMES)


class Cell:
    """The settings of a zygote's commands. The probe omits layers of protection, or limits the Landlock version."""

    def __init__(self, *, without: Collection[str] = (), rights: int | None = None) -> None:
        self.without = frozenset(without)
        self.landlock = landlock.version() if rights is None else min(landlock.version(), rights)
        name = platform.machine()
        self.machine = machine_of(name)
        self.seccomp = SECCOMP_BY_MACHINE.get(name, 0)
        self._filters = {loopback: self._filter(loopback=loopback) for loopback in (False, True)}

    def _filter(self, *, loopback: bool) -> "ctypes.Array[ctypes.c_char]":
        text = calls.program(self.machine, self.landlock, self.without, loopback=loopback) if self.machine else b""
        return ctypes.create_string_buffer(text, len(text))

    def filter(self, *, loopback: bool) -> bytes:
        """Return the filter of a command as the kernel takes it, a struct sock_fprog."""
        steps = self._filters[loopback]
        return struct.pack("HxxxxxxP", len(steps) // 8, ctypes.addressof(steps))

    @property
    def refusal(self) -> str | None:
        """The reason why no command can be confined on this machine, or None."""
        if self.machine is None:
            return f"{platform.machine()}: no seccomp filter for this architecture"
        return None if self.landlock else "landlock: not supported by this kernel"


def trust_git(home: str) -> None:
    """Write git's configuration; in a workspace, commands may have replaced the file with a symbolic link."""
    with suppress(FileExistsError), open(f"{home}/.gitconfig", "x", encoding="ascii") as file:
        file.write(TRUSTED_BY_GIT)


def become_command(
    request: Request, streams: tuple[int, int, int], status: socket.socket, cell: Cell, group: GroupFiles | None
) -> NoReturn:
    """Exec the requested command in its control group.

    Failures are reported over `status`, which closes when the command starts.
    """
    try:
        if group:
            os.write(group.procs, THIS_PROCESS)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        status = _moved(status)
        os.chdir(request.root)
        _limit(request, cell.without)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        if LANDLOCK not in cell.without:
            landlock.restrict(_rules(request), cell.landlock)
        listener = kernel.call(cell.seccomp, SET_FILTER, NEW_LISTENER, cell.filter(loopback=request.loopback))
        socket.send_fds(status, [LISTENS], [listener])
        os.close(listener)
    except (OSError, ValueError) as error:
        status.send(FAILED + str(error).encode())
        os._exit(NOT_EXECUTABLE)
    _execute(request, status, cell.without)


def _moved(status: socket.socket) -> socket.socket:
    """Return the socket with the descriptor that the filter lets send messages; it must exceed the limit."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return socket.socket(fileno=os.dup2(status.fileno(), calls.STATUS_DESCRIPTOR, inheritable=False))


def _limit(request: Request, without: Collection[str]) -> None:
    limits = request.limits
    bounds = {
        "memory": (limits.address_bytes or limits.memory_bytes,) * 2,
        "cpu": (limits.cpu_seconds, limits.cpu_seconds + 1),
        "processes": (limits.processes + _tasks_of_user(),) * 2,
        "file size": (limits.file_bytes,) * 2,
        "open files": (min(limits.files, calls.STATUS_DESCRIPTOR),) * 2,
        "core dumps": (0, 0),
        "signals": (QUEUED_SIGNALS,) * 2,
    }
    for name, (soft, hard) in bounds.items():
        if name not in without:
            most = resource.getrlimit(RESOURCES[name])[1]
            most = sys.maxsize if most == resource.RLIM_INFINITY else most
            resource.setrlimit(RESOURCES[name], (min(soft, most), min(hard, most)))


def _tasks_of_user() -> int:
    """Return the number of threads of this user, since RLIMIT_NPROC counts all of them."""
    user, count = os.getuid(), 0
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                count += os.stat(f"/proc/{name}").st_uid == user and os.stat(f"/proc/{name}/task").st_nlink - 2
            except OSError:
                continue
    return count


def _rules(request: Request) -> Iterator[tuple[str, int]]:
    for path in (request.root, *SYSTEM, *SYSTEM_FILES, *request.readable):
        yield path, landlock.READ
    for path in FACTS:
        yield path, landlock.READ_FILE
    for path in DEVICES:
        yield path, landlock.DEVICE
    for name in (HOME, TEMPORARY, WORK):
        yield f"{request.scratch}/{name}", landlock.write_rights()
    if request.in_memory:
        yield PRIVATE_TEMPORARY, landlock.write_rights()


def _execute(request: Request, status: socket.socket, without: Collection[str]) -> NoReturn:
    variables = {
        "PATH": request.path,
        "HOME": f"{request.scratch}/{HOME}",
        "TMPDIR": f"{request.scratch}/{TEMPORARY}",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",  # git fails on a configuration file that exists but is not readable
    }
    if DESCRIPTORS not in without:
        os.closerange(3, status.fileno())
        os.closerange(status.fileno() + 1, MORE_THAN_ANY)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(request.argv[0], request.argv, os.environ | variables if ENVIRONMENT in without else variables)
    except (OSError, ValueError) as error:
        status.send(NO_COMMAND + f"{request.argv[0]}: {getattr(error, 'strerror', error)}".encode())
        os._exit(NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE)
