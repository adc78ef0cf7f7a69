"""Process files with fault isolation: a file that exceeds its limits, or crashes the process, is reported by name.

Files are first processed in this process, with limits on CPU time and memory.  After a failure or crash of the job, the
files are processed in a forked process.  A slow batch stops between two files, and the remainder becomes a new job.
"""

import gc
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from jarvis_workers.errors import GivenUp, SnapshotDamaged
from jarvis_workers.toolchain.forked import Crashed, map_in_fork
from jarvis_workers.toolchain.limits import ResourceBudget

# The time limit of a file of this size is twice `file_seconds`.
LARGE_BYTES = 100_000_000
# The threshold of the garbage collector, in objects: reference counts free most values of a file, and with the default
# threshold collections take a tenth of the time.
COLLECT_AFTER = 100_000


class Sized(Protocol):
    """The size of a file in bytes, which determines its time limit."""

    @property
    def size(self) -> int: ...


class FileLimits(NamedTuple):
    """Limits per file, in CPU seconds (more for large files) and megabytes of memory, and the time limit of a batch."""

    file_seconds: float = 10.0
    file_memory_mb: float = 2048.0
    batch_seconds: float = 150.0

    def seconds(self, file: Sized) -> float:
        return self.file_seconds * (1 + file.size / LARGE_BYTES)


class FileNotChecked(NamedTuple):
    """The reason why a file was not checked."""

    reason: str


File = TypeVar("File", bound=Sized)
Done = TypeVar("Done")
Outcomes = Generator[tuple[str, Done | FileNotChecked], None, None]


@dataclass(frozen=True, slots=True)
class Task(Generic[File, Done]):
    """The work for each file; `to_json` encodes its result, `from_json` decodes it."""

    do: Callable[[File], Done]
    to_json: Callable[[Done], Any]
    from_json: Callable[[Any], Done]


def each_file(
    todo: Mapping[str, File],
    task: Task[File, Done],
    limits: FileLimits,
    *,
    careful: bool = False,
    passed: Callable[[File], None] | None = None,
) -> dict[str, Done | FileNotChecked]:
    """Return the results by key, in the order of `todo`: of all files, or of those reached within the time limit.

    At least one file is processed. `careful` selects a forked process; `passed` is called after each file.
    """
    give_up = time.monotonic() + limits.batch_seconds
    gc.set_threshold(COLLECT_AFTER)
    outcomes: dict[str, Done | FileNotChecked] = {}
    go: Callable[[Mapping[str, File], Task[File, Done], FileLimits], Outcomes[Done]] = _apart if careful else _together
    with closing(go(todo, task, limits)) as done:
        for key, outcome in done:
            outcomes[key] = outcome
            if passed:
                passed(todo[key])
            if time.monotonic() > give_up:
                break
    return outcomes


def _together(todo: Mapping[str, File], task: Task[File, Done], limits: FileLimits) -> Outcomes[Done]:
    with ResourceBudget(limits.file_memory_mb) as budget:
        for key, file in todo.items():
            yield key, _within(budget, limits.seconds(file), partial(task.do, file))


def _apart(todo: Mapping[str, File], task: Task[File, Done], limits: FileLimits) -> Outcomes[Done]:
    def work(file: File) -> list[Any]:
        with ResourceBudget(limits.file_memory_mb) as budget:
            outcome = _within(budget, limits.seconds(file), partial(task.do, file))
        return [outcome.reason] if isinstance(outcome, FileNotChecked) else [None, task.to_json(outcome)]

    with closing(map_in_fork(list(todo.values()), work, limits.seconds)) as answers:
        for key, answer in zip(todo, answers, strict=True):
            if isinstance(answer, Crashed):
                yield key, FileNotChecked(answer.reason)
            else:
                yield key, FileNotChecked(answer[0]) if len(answer) == 1 else task.from_json(answer[1])


def _within(budget: ResourceBudget, seconds: float, do: Callable[[], Done]) -> Done | FileNotChecked:
    try:
        return budget.run(do, seconds)
    except (SnapshotDamaged, GivenUp) as problem:
        return FileNotChecked(str(problem))
