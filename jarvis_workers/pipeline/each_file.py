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

# The limit of CPU time is a safety net against endless work, and decides no result: what work may cost is counted where
# it is done. It is so many times `file_seconds` for each megabyte, begun or not, which is a hundred times what scanning
# or analyzing one takes, but at most this share of the time of a batch, so that it ends before its process is killed.
NET, NET_BYTES, BATCH_SHARE = 10, 1_000_000, 0.8
# The threshold of the garbage collector, in objects: reference counts free most values of a file, and with the default
# threshold collections take a tenth of the time.
COLLECT_AFTER = 100_000


class Sized(Protocol):
    """The size of a file in bytes, which determines its time limit."""

    @property
    def size(self) -> int: ...


class FileLimits(NamedTuple):
    """Limits per file, in CPU seconds (for 100 kB) and megabytes of memory, and the time limit of a batch."""

    file_seconds: float = 10.0
    file_memory_mb: float = 2048.0
    batch_seconds: float = 150.0

    def seconds(self, file: Sized) -> float:
        """Return the CPU seconds after which the work for a file counts as endless."""
        net = self.file_seconds * NET * (1 + file.size / NET_BYTES)
        return min(net, max(self.file_seconds, self.batch_seconds * BATCH_SHARE))


class FileNotChecked(NamedTuple):
    """The reason why a file was not checked."""

    reason: str


File = TypeVar("File", bound=Sized)
Done = TypeVar("Done")
Outcomes = Generator[tuple[str, Done | FileNotChecked], None, None]


@dataclass(frozen=True, slots=True)
class Task(Generic[File, Done]):
    """The work for each file; `to_json` encodes its result, `from_json` decodes it.

    `rescue` returns what is left of the last file, whose work was stopped for a reason, or None.
    """

    do: Callable[[File], Done]
    to_json: Callable[[Done], Any]
    from_json: Callable[[Any], Done]
    rescue: Callable[[str], Done | None] = lambda _: None


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
            yield key, _within(budget, limits.seconds(file), partial(task.do, file), task.rescue)


def _apart(todo: Mapping[str, File], task: Task[File, Done], limits: FileLimits) -> Outcomes[Done]:
    def work(file: File) -> list[Any]:
        with ResourceBudget(limits.file_memory_mb) as budget:
            outcome = _within(budget, limits.seconds(file), partial(task.do, file), task.rescue)
        return [outcome.reason] if isinstance(outcome, FileNotChecked) else [None, task.to_json(outcome)]

    with closing(map_in_fork(list(todo.values()), work, limits.seconds)) as answers:
        for key, answer in zip(todo, answers, strict=True):
            if isinstance(answer, Crashed):
                yield key, FileNotChecked(answer.reason)
            else:
                yield key, FileNotChecked(answer[0]) if len(answer) == 1 else task.from_json(answer[1])


def _within(
    budget: ResourceBudget, seconds: float, do: Callable[[], Done], rescue: Callable[[str], Done | None]
) -> Done | FileNotChecked:
    try:
        return budget.run(do, seconds)
    except SnapshotDamaged as problem:
        return FileNotChecked(str(problem))
    except GivenUp as problem:
        reason = str(problem)
    # The error, which refers to all that the work had in memory, is gone.
    rescued = rescue(reason)
    return FileNotChecked(reason) if rescued is None else rescued
