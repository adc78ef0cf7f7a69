"""Distinguish trouble of this machine from faults of the work: memory, descriptors, threads, space, failing disks."""

import errno
import os
from collections.abc import Iterator

from jarvis_workers.errors import HostExhausted, ModelError

# Conditions of a process or machine that pass without a change of the work.
HOST_ERRNOS = frozenset(
    {
        *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN),
        *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO),
        *(errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.EHOSTDOWN, errno.ENODEV),
    }
)
NO_THREAD = "can't start new thread"
# What an import says if the loader has no memory or descriptor for a library.
NOT_LOADED = ("failed to map segment", *(os.strerror(number) for number in sorted(HOST_ERRNOS)))
# An extension module that has no memory for its own error.
NO_EXCEPTION = "without exception set", "without setting an exception"
CAUSES_MAX = 20


def host_exhausted(error: BaseException) -> HostExhausted | None:
    """Return an error that says what this machine lacks, if that caused `error`; else None."""
    for cause in _causes(error):
        if isinstance(cause, HostExhausted):
            return cause
        if isinstance(cause, MemoryError):
            return HostExhausted("this machine or process is out of memory")
        if isinstance(cause, ImportError) and any(words in str(cause) for words in NOT_LOADED):
            return HostExhausted(f"this machine or process cannot load a library: {cause}")
        if isinstance(cause, SystemError) and any(words in str(cause) for words in NO_EXCEPTION):
            return HostExhausted(f"this process is out of memory: {cause}")
        if isinstance(cause, OSError) and cause.errno in HOST_ERRNOS:
            return HostExhausted(f"this machine or its disk is in trouble: {cause.strerror}{_where(cause)}")
        if isinstance(cause, RuntimeError) and NO_THREAD in str(cause):
            return HostExhausted("this machine or process cannot start another thread")
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes; what makes a model server unreachable is its own trouble."""
    for _ in range(CAUSES_MAX):
        if error is None or isinstance(error, ModelError):
            return
        yield error
        error = error.__cause__


def _where(error: OSError) -> str:
    return f": {error.filename}" if isinstance(error.filename, str) else ""
