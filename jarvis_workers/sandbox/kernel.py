"""Linux system calls that the standard library does not wrap."""

import ctypes
import os
import stat
from contextlib import suppress
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_KEEPCAPS = 8
PR_GET_SECUREBITS = 27
PR_SET_SECUREBITS = 28
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
NO_SETUID_FIXUP = 1 << 2

CAP_DAC_READ_SEARCH = 2
CAPABILITY_VERSION_3 = 0x20080522

_library = ctypes.CDLL(None, use_errno=True)
_library.syscall.restype = ctypes.c_long


def call(number: int, *arguments: Any) -> int:
    """Make a system call; raises OSError. Integers are passed as longs, buffers by address."""
    passed = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    answer = int(_library.syscall(ctypes.c_long(number), *passed))
    if answer < 0:
        raise _error()
    return answer


def prctl(option: int, *arguments: int) -> int:
    """Call prctl(2); raises OSError."""
    padded = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    answer = int(_library.prctl(option, *padded))
    if answer < 0:
        raise _error()
    return answer


def set_times(path: str, times: bytes | None) -> None:
    """Set the timestamps of a path; `times` is two packed timespecs, or None for now. Raises OSError."""
    if _library.utimensat(-100, path.encode(), times, 0) < 0:
        raise _error()


def is_mapped(user: int) -> bool:
    """Return whether a user id is mapped in the user namespace of this process."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        rows = [[int(word) for word in line.split()] for line in file]
    return any(first <= user < first + count for first, _, count in rows)


def lose_root(user: int, *, reads_all: bool) -> None:
    """Drop to `user` permanently, keeping no capability but, if `reads_all`, CAP_DAC_READ_SEARCH.

    If the user is not mapped, root is an ordinary user outside the namespace, and only its capabilities are dropped.
    """
    if not is_mapped(user):
        _keep(0)
        return
    mask = _capabilities()[1] & 1 << CAP_DAC_READ_SEARCH if reads_all else 0
    prctl(PR_SET_KEEPCAPS, 1)
    with suppress(PermissionError):  # access(2) ignores capabilities of a non-root user unless this bit is set.
        prctl(PR_SET_SECUREBITS, prctl(PR_GET_SECUREBITS) | NO_SETUID_FIXUP)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    _keep(mask)
    if mask:
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH)


def may_enter(directory: str, user: int) -> bool:
    """Return whether a user, to whom no group belongs, may reach a directory and read it without capabilities."""
    above = directory
    while above != "/":
        above = os.path.dirname(above)
        if not _allows(above, user, stat.S_IXUSR):
            return False
    return _allows(directory, user, stat.S_IRUSR | stat.S_IXUSR)


def _allows(directory: str, user: int, rights: int) -> bool:
    status = os.stat(directory)
    rights = rights if status.st_uid == user else rights >> 6
    return status.st_mode & rights == rights


def _keep(mask: int) -> None:
    """Drop all capabilities outside the mask `mask`."""
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    if _library.capset(header, (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)) < 0:
        raise _error()


def _capabilities() -> tuple[int, int]:
    """Return the low 32 bits of the effective and the permitted capability sets."""
    header, sets = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    if _library.capget(header, sets) < 0:
        raise _error()
    return sets[0], sets[1]


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
