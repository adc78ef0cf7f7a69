"""Run a sequence of work items in a forked process, so that a crash affects only one item.

One fork processes the items in order and reports each result as it completes; when the fork dies, a new one continues
after the item that killed it. For single-threaded processes only.
"""

import gc
import json
import math
import os
import resource
import signal
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple, TypeVar

from jarvis_workers.errors import BlobsUnavailable, HostExhausted, JarvisError
from jarvis_workers.toolchain.die_with_parent import die_with_parent
from jarvis_workers.toolchain.exhaustion import host_exhausted
from jarvis_workers.toolchain.limits import cpu_seconds, too_slow

# The work enforces its own CPU limit; the kernel kills work that does not stop after twice the limit, or these seconds.
PATIENCE_SECONDS = 10
# What is no fault of an item is raised in the parent.
OUTAGES: Mapping[str, type[JarvisError]] = {kind.__name__: kind for kind in (BlobsUnavailable, HostExhausted)}

T = TypeVar("T")


class Crashed(NamedTuple):
    """The result of a work item that failed, with the reason."""

    reason: str


def map_in_fork(
    items: Sequence[T], work: Callable[[T], Any], seconds: Callable[[T], float]
) -> Generator[Any | Crashed, None, None]:
    """Yield each item's result after a JSON round trip, or Crashed; `seconds` returns the CPU limit of an item.

    Raises BlobsUnavailable and HostExhausted, which are no faults of an item.
    """
    place = 0
    while place < len(items):
        fork = _Fork(items[place:], work, seconds)
        try:
            for answer in fork.answers():
                place += 1
                yield answer
        finally:
            how = fork.end()
        if place < len(items):
            how = how or too_slow(seconds(items[place]))
            place += 1
            yield Crashed(how)


def map_here(
    items: Sequence[T], work: Callable[[T], Any], _seconds: Callable[[T], float]
) -> Generator[Any | Crashed, None, None]:
    """Yield each item's result in this process, without a limit; errors are raised."""
    for item in items:
        yield work(item)


class _Fork:
    """A forked process that writes one line of JSON per item."""

    def __init__(self, items: Sequence[T], work: Callable[[T], Any], seconds: Callable[[T], float]) -> None:
        parent = os.getpid()
        reading, writing = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            os.close(reading)
            _serve(items, work, seconds, parent=parent, stream=os.fdopen(writing, "wb"))
        os.close(writing)
        self._stream = os.fdopen(reading, "rb")

    def answers(self) -> Iterator[Any | Crashed]:
        for line in self._stream:
            if line.endswith(b"\n"):
                fields = json.loads(line)
                if "outage" in fields:
                    raise OUTAGES[fields["outage"]](fields["reason"])
                yield Crashed(fields["error"]) if "error" in fields else fields["answer"]

    def end(self) -> str | None:
        """Kill the fork if it is still running; return its exit reason, or None if it exceeded its CPU limit."""
        self._stream.close()
        ended, status = os.waitpid(self._pid, os.WNOHANG)
        if not ended:
            os.kill(self._pid, signal.SIGKILL)
            _, status = os.waitpid(self._pid, 0)
        if not os.WIFSIGNALED(status):
            return f"its process exited with code {os.waitstatus_to_exitcode(status)}"
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU:
            return None
        return f"its process was killed by {signal.Signals(number).name}"


def _serve(
    items: Sequence[T], work: Callable[[T], Any], seconds: Callable[[T], float], *, parent: int, stream: IO[bytes]
) -> None:
    """Run the child side of the fork; this never returns to the parent's code."""
    try:
        die_with_parent(parent)
        gc.freeze()  # else a collection here would run destructors of the parent's garbage, such as open connections
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for item in items:
            _end_by(cpu_seconds() + seconds(item) + min(seconds(item), PATIENCE_SECONDS))
            stream.write(_answer(item, work))
            stream.flush()
    finally:
        os._exit(1)


def _answer(item: T, work: Callable[[T], Any]) -> bytes:
    """Run one work item. This is a task boundary: any exception becomes the reason of a failure."""
    try:
        return _line({"answer": work(item)})
    except Exception as error:  # noqa: BLE001  (the task boundary)
        outage = error if isinstance(error, BlobsUnavailable) else host_exhausted(error)
        if outage:
            return _line({"outage": type(outage).__name__, "reason": str(outage)})
        return _line({"error": str(error) if isinstance(error, JarvisError) else f"{type(error).__name__}: {error}"})


def _line(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def _end_by(seconds: float) -> None:
    """Have the kernel end this process after a total of `seconds` of CPU time."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = math.ceil(seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
