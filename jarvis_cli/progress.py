"""Show how far a run is: bars on a terminal, a plain line every ten seconds elsewhere, nothing when quiet."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn

from jarvis_workers.store.runs import Run
from jarvis_workers.store.stages import StageProgress

PLAIN_SECONDS = 10.0
MEGABYTE = 1_000_000


class Display(Protocol):
    """What a command tells while it works; all of it on standard error."""

    def packing(self, files: int, size: int) -> None: ...
    def show(self, run: Run, stages: list[StageProgress]) -> None: ...
    def tell(self, says: str) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...


def display(quiet: bool) -> "Display":
    """Choose by where standard error goes."""
    if quiet:
        return Quiet()
    return Bars() if sys.stderr.isatty() else Lines(time.monotonic)


class Quiet:
    """Says only what somebody must know."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Nothing to clean up."""

    def packing(self, files: int, size: int) -> None:
        """Say nothing."""

    def show(self, run: Run, stages: list[StageProgress]) -> None:
        """Say nothing."""

    def tell(self, says: str) -> None:
        sys.stderr.write(f"jarvis: {says}\n")
        sys.stderr.flush()


class Lines(Quiet):
    """A line every ten seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = self._start = clock()

    def packing(self, files: int, size: int) -> None:
        if self._due():
            self.tell(f"reading the tree: {files:,} files, {size / MEGABYTE:,.1f} MB")

    def show(self, run: Run, stages: list[StageProgress]) -> None:
        stage = current(stages)
        if stage and self._due():
            self.tell(f"run {run.id}: {describe(stage, self._clock() - self._start)}")

    def _due(self) -> bool:
        if self._clock() - self._last < PLAIN_SECONDS:
            return False
        self._last = self._clock()
        return True


class Bars(Quiet):
    """One bar a stage, with its rate and the time left."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description:<12}"),
            BarColumn(),
            TextColumn("{task.fields[says]}"),
            TimeRemainingColumn(),
        )
        self._bars = Progress(*columns, console=console, transient=True)
        self._tasks: dict[str, TaskID] = {}
        self._start = time.monotonic()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bars.stop()

    def packing(self, files: int, size: int) -> None:
        task = self._task("read", None)
        self._bars.update(task, says=f"{files:,} files, {size / MEGABYTE:,.1f} MB")

    def show(self, run: Run, stages: list[StageProgress]) -> None:
        if "read" in self._tasks:
            self._bars.update(self._tasks["read"], total=1, completed=1)
        for stage in stages:
            if stage.jobs:
                total, done = (
                    (stage.weight, stage.weight_done) if stage.weight else (stage.jobs, stage.done + stage.failed)
                )
                task = self._task(stage.name, total)
                says = describe(stage, time.monotonic() - self._start)
                self._bars.update(task, total=total, completed=done, says=says)

    def tell(self, says: str) -> None:
        self._bars.console.print(f"jarvis: {says}", markup=False, highlight=False)

    def _task(self, name: str, total: int | None) -> TaskID:
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total, says="")
        return self._tasks[name]


def current(stages: list[StageProgress]) -> StageProgress | None:
    """Return the stage that is being worked on."""
    return next((stage for stage in stages if stage.state == "open"), None)


def describe(stage: StageProgress, seconds: float) -> str:
    """Say in a line how far a stage is, how fast, and how long it will take."""
    said = f"{stage.name}: {stage.done + stage.failed:,}/{stage.jobs:,} jobs"
    if stage.weight:
        rate = stage.weight_done / seconds if seconds > 0 else 0.0
        said += f", {stage.weight_done / MEGABYTE:,.1f}/{stage.weight / MEGABYTE:,.1f} MB, {rate / MEGABYTE:,.1f} MB/s"
        if rate and stage.weight > stage.weight_done:
            said += f", {(stage.weight - stage.weight_done) / rate:,.0f} s left"
    return said + (f", {stage.failed:,} failed" if stage.failed else "")
