"""Read translation units in forked processes: a unit that crashes libclang, hangs or needs too much costs only itself.

After a crash that libclang survives, its process is replaced as well, since it keeps the memory of the broken unit.
"""

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from math import inf
from pathlib import Path
from typing import NamedTuple, TypeVar

from jarvis_workers.errors import GivenUp
from jarvis_workers.paths import as_text, from_text
from jarvis_workers.source.clang.declared_functions import declared_functions
from jarvis_workers.source.clang.read import read_unit_and_files
from jarvis_workers.source.clang.translation_unit import CRASHED
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.source.clang.unit_json import encode_unit
from jarvis_workers.toolchain.forked import Crashed, map_in_fork
from jarvis_workers.toolchain.limits import ResourceBudget

# A unit may take this multiple of its CPU limit, and this many seconds more, until its process is killed.
WALL_FACTOR, WALL_SECONDS = 20, 60
KILLED_BY_ALARM = "its process was killed by SIGALRM"
# A crash with this part of the memory limit in use is blamed on the limit: libclang does not say why it crashed.
NEAR_LIMIT = 0.4


class UnitLimits(NamedTuple):
    """Limits of a unit: CPU seconds, megabytes of memory, and at most so many seconds of time in all."""

    seconds: float = 60.0
    memory_mb: float = 4000.0
    longest_seconds: float = inf

    @property
    def wall_seconds(self) -> float:
        return min(self.seconds * WALL_FACTOR + WALL_SECONDS, self.longest_seconds)


class UnitReading(NamedTuple):
    """A unit as `encode_unit` has it, and the absolute paths of the files outside of the project that it read."""

    unit: bytes
    system_files: tuple[bytes, ...]


class UnitNotRead(NamedTuple):
    """The reason why a unit was not read."""

    reason: str


Item = TypeVar("Item")
Answer = str | list[str]


def read_units(
    root: Path, commands: Sequence[CompileCommand], headers: Path, limits: UnitLimits
) -> Iterator[bytes | UnitNotRead]:
    """Yield each command's unit as `encode_unit` has it, in order; for single-threaded processes only."""
    for reading in read_units_and_files(root, commands, headers, limits):
        yield reading if isinstance(reading, UnitNotRead) else reading.unit


def read_units_and_files(
    root: Path, commands: Sequence[CompileCommand], headers: Path, limits: UnitLimits
) -> Iterator[UnitReading | UnitNotRead]:
    """Yield the reading of each command's unit, in order; for single-threaded processes only."""

    def work(command: CompileCommand) -> Answer:
        unit, files = read_unit_and_files(root, command, headers)
        return [encode_unit(unit).decode(), *map(as_text, files)]

    for answer in _in_forks(commands, work, limits):
        if isinstance(answer, UnitNotRead):
            yield answer
        else:
            yield UnitReading(answer[0].encode(), tuple(map(from_text, answer[1:])))


def read_declared_functions(
    root: Path, files: Sequence[bytes], arguments: Sequence[str], headers: Path, limits: UnitLimits
) -> Iterator[tuple[str, ...] | UnitNotRead]:
    """Yield the names of `declared_functions` for each header below the root, in order."""

    def work(file: bytes) -> Answer:
        return list(declared_functions(root, file, arguments, headers))

    for answer in _in_forks(files, work, limits):
        yield answer if isinstance(answer, UnitNotRead) else tuple(answer)


def _in_forks(
    items: Sequence[Item], work: Callable[[Item], Answer], limits: UnitLimits
) -> Iterator[Answer | UnitNotRead]:
    place = 0
    while place < len(items):
        with closing(map_in_fork(items[place:], partial(_within, work, limits), lambda _: limits.seconds)) as answers:
            for answer in answers:
                place += 1
                if isinstance(answer, Crashed):
                    yield UnitNotRead(_reason(answer, limits))
                    break
                yield answer


def _reason(crash: Crashed, limits: UnitLimits) -> str:
    return f"exceeded the limit of {limits.wall_seconds:g} s" if crash.reason == KILLED_BY_ALARM else crash.reason


def _within(work: Callable[[Item], Answer], limits: UnitLimits, item: Item) -> Answer:
    _arrange(limits)
    with ResourceBudget(limits.memory_mb):
        try:
            return work(item)
        except MemoryError:
            raise GivenUp(_too_big(limits)) from None
        except GivenUp as problem:
            if str(problem) == CRASHED and _peak_mb() > limits.memory_mb * NEAR_LIMIT:
                raise GivenUp(_too_big(limits)) from None
            raise


def _arrange(limits: UnitLimits) -> None:
    """Make this process die of what would otherwise be lost or wait: exceptions in callbacks, signals, input."""
    sys.unraisablehook = lambda _: os.abort()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limits.wall_seconds)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)


def _too_big(limits: UnitLimits) -> str:
    return f"exceeded the memory limit of {limits.memory_mb:g} MB"


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
