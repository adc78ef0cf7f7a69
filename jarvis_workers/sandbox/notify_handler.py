"""Handle the system calls that a command may make only on its own files and processes.

The kernel suspends the caller and notifies this handler (seccomp user notification). The handler opens a file
before it changes mode or times for the caller, so that concurrent changes of the caller's memory or files have no
effect.
"""

import errno
import fcntl
import mmap
import os
import struct
from collections.abc import Callable
from typing import NamedTuple

from jarvis_workers.sandbox import kernel
from jarvis_workers.sandbox.limits import SandboxLimits
from jarvis_workers.sandbox.syscalls import Architecture

# SECCOMP_IOCTL_NOTIF_RECV, _SEND and _ID_VALID of linux/seccomp.h.
RECEIVE, SEND, STILL_VALID = 0xC0502100, 0xC0182101, 0x40082102
NOTIFICATION = struct.Struct("=QII iIQ 6Q")
ANSWER = struct.Struct("=QqiI")
GO_ON = 1

PATH_BYTES = 4096
LAST_ADDRESS = (1 << 62) - 1
TIMES_BYTES = 32
HERE = -100
NOFOLLOW = 0x100
EMPTY_PATH = 0x1000
PERMISSIONS = 0o777
MAP_FIXED, MAP_ANONYMOUS, MAP_HUGETLB = 0x10, 0x20, 0x40000
EXIT_CODE = 0xFF
LOCKS = ("flock", "fcntl")


class SyscallRequest(NamedTuple):
    """A suspended system call: notification id, process id, call number and arguments."""

    key: int
    process: int
    number: int
    arguments: tuple[int, ...]

    def number_at(self, place: int) -> int:
        """Return an argument as a signed 32-bit integer."""
        return int(struct.unpack("i", struct.pack("I", self.arguments[place] & 0xFFFFFFFF))[0])

    def file_at(self, place: int) -> str:
        """Return the /proc path of the caller's open file whose descriptor is an argument."""
        return f"/proc/{self.process}/fd/{self.number_at(place)}"


class NotificationListener:
    """The notification handler of one command, for its processes and the files that it `owns`, by links in /proc."""

    def __init__(
        self,
        listener: int,
        limits: SandboxLimits,
        machine: Architecture,
        processes: Callable[[], set[int]],
        owns: Callable[[str], bool],
    ) -> None:
        self._listener, self._limits, self._processes, self._owns = listener, limits, processes, owns
        self._names = {number: name for name, number in machine.numbers.items()}
        # Total ever mapped: partly unmapped or non-resident memory may still be in use.
        self.shared_bytes = 0
        self.exits = set[int]()
        self.lock_calls = 0

    def fileno(self) -> int:
        return self._listener

    def answer(self) -> None:
        """Handle the next notification; a call that has been interrupted is skipped."""
        buffer = bytearray(NOTIFICATION.size)
        try:
            fcntl.ioctl(self._listener, RECEIVE, buffer)
            key, process, _, number, _, _, *arguments = NOTIFICATION.unpack(buffer)
            refused, flags = self._judge(SyscallRequest(key, process, number, tuple(arguments)))
            fcntl.ioctl(self._listener, SEND, ANSWER.pack(key, 0, -refused, flags))
        except (FileNotFoundError, InterruptedError):
            return

    def _judge(self, request: SyscallRequest) -> tuple[int, int]:
        """Return an error number, 0 for success, and whether the kernel should continue the call."""
        name = self._names[request.number]
        try:
            if name in CHANGES:
                self._change(name, request)
                return 0, 0
            if name == "exit_group":
                self.exits.add(request.arguments[0] & EXIT_CODE)
                return 0, GO_ON
            if name == "mmap":
                return self._map(request) if self._maps_memory(request) else (0, GO_ON)
            may = self._may_lock(request) if name in LOCKS else self._may_signal(name, request)
            return (0, GO_ON) if may else (errno.EPERM, 0)
        except OSError as error:
            return error.errno or errno.EPERM, 0

    def _change(self, name: str, request: SyscallRequest) -> None:
        change = CHANGES[name]
        descriptor = self._open(change, request)
        try:
            place = f"/proc/self/fd/{descriptor}"
            if not self._owns(place):
                raise PermissionError(errno.EPERM, "outside the scratch directory")
            value = request.arguments[change.value]
            if change.of_times:
                kernel.set_times(
                    place, self._read(request, value, TIMES_BYTES).ljust(TIMES_BYTES, b"\0") if value else None
                )
            else:
                os.chmod(place, value & PERMISSIONS)
        finally:
            os.close(descriptor)

    def _open(self, change: "PathArguments", request: SyscallRequest) -> int:
        """Open the file that the call refers to, without reading it."""
        base, flags = f"/proc/{request.process}/cwd", 0
        if change.directory is not None and request.number_at(change.directory) != HERE:
            base = request.file_at(change.directory)
        if change.flags is not None:
            flags = request.arguments[change.flags]
        address = None if change.path is None else request.arguments[change.path]
        name = self._read(request, address, PATH_BYTES).split(b"\0", 1)[0] if address else b""
        if address and not name and not flags & EMPTY_PATH:
            raise FileNotFoundError(errno.ENOENT, "no name")
        target = os.path.join(base.encode(), name) if name else base.encode()
        return os.open(target, os.O_PATH | os.O_CLOEXEC | (os.O_NOFOLLOW if flags & NOFOLLOW else 0))

    def _read(self, request: SyscallRequest, address: int, size: int) -> bytes:
        """Read the caller's memory, then check that the notification is still valid."""
        if address > LAST_ADDRESS:
            raise OSError(errno.EFAULT, "no such address")
        with open(f"/proc/{request.process}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            content = memory.read(size) or b""
        fcntl.ioctl(self._listener, STILL_VALID, struct.pack("Q", request.key))
        return content

    def _map(self, request: SyscallRequest) -> tuple[int, int]:
        """Count a mapping of shared memory; one that the kernel would refuse is refused here, and does not count."""
        size, flags, offset = request.arguments[1], request.arguments[3], request.arguments[5]
        if not size or offset % mmap.PAGESIZE:
            return errno.EINVAL, 0
        room = self._limits.address_bytes or self._limits.memory_bytes
        if not flags & MAP_FIXED:  # which replaces other mappings
            room -= self._address_space(request.process)
        if flags & MAP_HUGETLB or size > min(room, self._limits.memory_bytes):
            return errno.ENOMEM, 0
        self.shared_bytes += size
        return 0, GO_ON

    def _address_space(self, process: int) -> int:
        with open(f"/proc/{process}/statm", "rb", buffering=0) as file:
            return int(file.read().split()[0]) * mmap.PAGESIZE

    def _maps_memory(self, request: SyscallRequest) -> bool:
        """Return whether a shared mapping is anonymous memory, which counts as memory; mapped files do not."""
        return bool(request.arguments[3] & MAP_ANONYMOUS) or os.readlink(request.file_at(4)) == "/dev/zero"

    def _may_lock(self, request: SyscallRequest) -> bool:
        """Return whether a file is in the scratch directory: locks on other files would block their users."""
        self.lock_calls += 1
        return self._owns(request.file_at(0))

    def _may_signal(self, name: str, request: SyscallRequest) -> bool:
        """Return whether a signal goes to the command's own processes; process id 0 is the caller's group."""
        if name == "pidfd_send_signal":
            return False
        process = request.number_at(0)
        return process != -1 and (process == 0 or abs(process) in self._processes())


class PathArguments(NamedTuple):
    """Positions of the directory, path, value and flags in the arguments of a call."""

    directory: int | None
    path: int | None
    value: int
    flags: int | None = None
    of_times: bool = False


CHANGES = {
    "chmod": PathArguments(None, 0, 1),
    "fchmod": PathArguments(0, None, 1),
    "fchmodat": PathArguments(0, 1, 2),
    "utimensat": PathArguments(0, 1, 2, 3, of_times=True),
}
