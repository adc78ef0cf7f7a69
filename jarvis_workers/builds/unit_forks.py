"""Read translation units in forked processes: a unit that crashes libclang, hangs or exceeds a limit affects no other.

After a crash that libclang recovers from, the process is replaced as well, since it keeps the memory of the unit.
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
from jarvis_workers.source.clang.c_types import UnitDefinitions
from jarvis_workers.source.clang.declared_functions import declared_functions
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.read import read_unit_and_files
from jarvis_workers.source.clang.translation_unit import CRASHED
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.source.clang.unit_json import encode_definitions, encode_unit
from jarvis_workers.toolchain.forked import Crashed, map_in_fork
from jarvis_workers.toolchain.limits import ResourceBudget

# A process is killed after this multiple of a unit's CPU limit, plus this number of seconds.
WALL_FACTOR, WALL_SECONDS = 20, 60
KILLED_BY_ALARM = "its process was killed by SIGALRM"
# A crash is attributed to the memory limit if at least this share of it was used: libclang does not report the cause.
NEAR_LIMIT = 0.4


class UnitLimits(NamedTuple):
    """Limits of a unit: CPU seconds, megabytes of memory, and seconds of wall-clock time."""

    seconds: float = 60.0
    memory_mb: float = 4000.0
    longest_seconds: float = inf

    @property
    def wall_seconds(self) -> float:
        return min(self.seconds * WALL_FACTOR + WALL_SECONDS, self.longest_seconds)


class UnitReading(NamedTuple):
    """A unit encoded by `encode_unit`, its definitions encoded by `encode_definitions` (b"" if not requested), and the
    absolute paths of the files outside the project that it includes."""

    unit: bytes
    definitions: bytes
    system_files: tuple[bytes, ...]


class UnitNotRead(NamedTuple):
    """The reason why a unit was not read."""

    reason: str


Item = TypeVar("Item")
Answer = str | list[str]


def read_units(
    root: Path, commands: Sequence[CompileCommand], headers: Path, limits: UnitLimits
) -> Iterator[bytes | UnitNotRead]:
    """Yield each command's unit in the form of `encode_unit`, in order; for single-threaded processes only."""
    for reading in read_units_and_files(root, commands, headers, limits):
        yield reading if isinstance(reading, UnitNotRead) else reading.unit


def read_units_and_files(
    root: Path, commands: Sequence[CompileCommand], headers: Path, limits: UnitLimits, *, definitions: bool = False
) -> Iterator[UnitReading | UnitNotRead]:
    """Yield a reading for each command's unit, in order; for single-threaded processes only."""

    def work(command: CompileCommand) -> Answer:
        unit, files = read_unit_and_files(root, command, headers)
        has_trees = definitions and unit.language == "c"
        read = read_definitions(root, command, headers) if has_trees else UnitDefinitions(unit.file, (), (), {}, {})
        trees = encode_definitions(read) if definitions else b""
        return [encode_unit(unit).decode(), trees.decode(), *map(as_text, files)]

    for answer in _in_forks(commands, work, limits):
        if isinstance(answer, UnitNotRead):
            yield answer
        else:
            assert isinstance(answer, list)
            unit, trees, *files = answer
            yield UnitReading(unit.encode(), trees.encode(), tuple(map(from_text, files)))


def read_declared_functions(
    root: Path, files: Sequence[bytes], arguments: Sequence[str], headers: Path, limits: UnitLimits
) -> Iterator[tuple[str, ...] | UnitNotRead]:
    """Yield the result of `declared_functions` for each header below the root, in order."""

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
    """Let exceptions in callbacks and signals end this process, and disconnect its standard streams."""
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
