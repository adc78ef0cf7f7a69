"""Abort work that exceeds its CPU or memory limit, without ending its process.

A MemoryError is charged to the work only if this machine can allocate all that the limit allows: otherwise the machine,
or a limit of the whole process such as `ulimit -v`, lacks the memory.

The kernel counts the CPU time of the process and sends a signal, which raises an exception between two Python
instructions or inside a match of `re`. The exceeded limit is reported even if the work has swallowed the exception.
Code that signals cannot interrupt, such as a loop in a C library, must be killed by the supervisor of the process.
"""

import mmap
import resource
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self, TypeVar

from jarvis_workers.errors import GivenUp, HostExhausted

STATUS = Path("/proc/self/statm")
DATA_FIELD = 5
MEGABYTE = 1_000_000

T = TypeVar("T")


class _Spent(BaseException):
    """Raised when the CPU limit is reached; only `run` may catch it."""


class ResourceBudget:
    """Limits for work items: `megabytes` of memory beyond the process's memory at entry, and CPU seconds per item.

    This is a context manager for the main thread; there is no CPU limit in other threads.
    """

    def __init__(self, megabytes: float) -> None:
        self.megabytes = megabytes
        self._armed = self._spent = False

    def __enter__(self) -> Self:
        self._timed = threading.current_thread() is threading.main_thread()
        if self._timed:
            self._handler = signal.signal(signal.SIGPROF, self._ring)
        self._data = resource.getrlimit(resource.RLIMIT_DATA)
        self._data_limit = _data_bytes() + int(self.megabytes * MEGABYTE)
        resource.setrlimit(resource.RLIMIT_DATA, (_bounded(self._data_limit, self._data), self._data[1]))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        resource.setrlimit(resource.RLIMIT_DATA, self._data)
        if self._timed:
            signal.signal(signal.SIGPROF, self._handler)

    def run(self, work: Callable[[], T], seconds: float) -> T:
        """Return the result of `work`; raise GivenUp if it exceeds a limit, HostExhausted if memory is short."""
        try:
            try:
                self._arm(seconds)
                done = work()
            finally:
                self._armed = False
                self._arm(0)
        except _Spent:
            raise GivenUp(too_slow(seconds)) from None
        except MemoryError:
            # The frames of the traceback still hold the memory of the work.
            if not _can_allocate(self._data_limit - _data_bytes()):
                raise HostExhausted(f"a process has less memory than its limit of {self.megabytes:g} MB") from None
            raise GivenUp(f"exceeded the memory limit of {self.megabytes:g} MB") from None
        if self._spent:
            raise GivenUp(too_slow(seconds))
        return done

    def _arm(self, seconds: float) -> None:
        if self._timed:
            if seconds:
                self._armed, self._spent = True, False
            signal.setitimer(signal.ITIMER_PROF, seconds)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        if self._armed:
            self._spent = True
            raise _Spent


def too_slow(seconds: float) -> str:
    return f"exceeded the CPU limit of {seconds:.3g} s"


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of the children it has reaped."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _data_bytes() -> int:
    """Return the data of this process that RLIMIT_DATA counts. Raises OSError without a descriptor for the file."""
    return int(STATUS.read_text().split()[DATA_FIELD]) * resource.getpagesize()


def _bounded(limit: int, now: tuple[int, int]) -> int:
    """Return the RLIMIT_DATA within the limits in force."""
    set_before = [bound for bound in now if bound != resource.RLIM_INFINITY]
    return min([limit, *set_before])


def _can_allocate(size: int) -> bool:
    """Return whether the machine gives this process `size` more bytes; they are reserved for a moment, and not used."""
    if size <= mmap.PAGESIZE:
        return True
    try:
        mmap.mmap(-1, size - mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, MemoryError):
        return False
    return True
