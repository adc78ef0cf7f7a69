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
        if lack := _lack(cause):
            return HostExhausted(lack)
    return None


def _lack(cause: BaseException) -> str | None:
    """Return what this machine lacks according to an error."""
    says = str(cause)
    match cause:
        case MemoryError():
            return "this machine or process is out of memory"
        case OSError() if cause.errno in HOST_ERRNOS:
            return f"this machine or its disk is in trouble: {cause.strerror}{_where(cause)}"
        case RuntimeError() if NO_THREAD in says:
            return "this machine or process cannot start another thread"
        case ImportError() if any(words in says for words in NOT_LOADED):
            return f"this machine or process cannot load a library: {says}"
        case SystemError() if any(words in says for words in NO_EXCEPTION):
            return f"this process is out of memory: {says}"
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
