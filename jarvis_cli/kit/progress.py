"""Progress of a run: bars on a terminal, a plain line every ten seconds otherwise, nothing if quiet."""

import sys
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn
from rich.table import Column

from jarvis_cli.kit.status_output import Display, Quiet, Verbose
from jarvis_workers.paths import plain
from jarvis_workers.runs.run_kinds import JOBS, units_of
from jarvis_workers.store.values import Run, StageProgress
from jarvis_workers.words import ENGLISH, Words, cost_text

PLAIN_SECONDS = 10.0
MEGABYTE, KILOBYTE = 1_000_000, 1_000
RATE_SECONDS = 0.5
MINUTE = 60
# On a narrower terminal the bar is omitted in favour of the numbers.
BAR_WIDTH = 70


def display(quiet: bool) -> Display:
    """Return the display for the kind of stderr."""
    if quiet:
        return Quiet()
    return Bars() if sys.stderr and sys.stderr.isatty() else Lines(time.monotonic)


class Pace:
    """The throughput of each stage since this command first saw it; earlier work is not counted."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._first: dict[str, tuple[float, int]] = {}

    def rate(self, stage: StageProgress) -> float:
        """Return bytes (or jobs, for a stage without sizes) per second; 0 if unknown."""
        since, done = self._first.setdefault(stage.name, (self._clock(), amount_done(stage)))
        if stage.closed_at:
            return rate_of(stage)
        seconds = self._clock() - since
        return (amount_done(stage) - done) / seconds if seconds > 0 else 0.0


def rate_of(stage: StageProgress) -> float:
    """Return the mean throughput of a closed stage, or that of conversations; 0 if it was too short to measure."""
    if stage.state == "open":
        return stage.conversation_rate
    seconds = stage.closed_at - stage.opened_at if stage.closed_at and stage.opened_at else 0.0
    return amount_done(stage) / seconds if seconds >= RATE_SECONDS else 0.0


def amount_done(stage: StageProgress) -> int:
    """Return the bytes done (or the jobs, for a stage without sizes)."""
    return stage.weight_done if stage.weight else stage.done + stage.failed


class Lines(Verbose):
    """A plain line every ten seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._pace = Pace(clock)
        self._last = clock()

    def packing(self, files: int, size: int) -> None:
        if self._due():
            self.tell(f"reading the tree: {ENGLISH.count(files, 'file')}, {size / MEGABYTE:,.1f} MB")

    def show(self, run: Run, stages: list[StageProgress]) -> None:
        lines = [
            f"{stage.name}: {describe(stage, self._pace.rate(stage), units_of(run, stage.name))}"
            for stage in current(stages)
        ]
        if lines and self._due():
            self.tell(f"run {run.id}: {'; '.join(lines)}")

    def _due(self) -> bool:
        if self._clock() - self._last < PLAIN_SECONDS:
            return False
        self._last = self._clock()
        return True


class Bars(Verbose):
    """One progress bar per stage, with throughput and time left."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        bar = (BarColumn(),) if console.width >= BAR_WIDTH else ()
        stage = TextColumn("{task.description:<9}", table_column=Column(min_width=9, no_wrap=True))
        columns = (SpinnerColumn(), stage, *bar, TextColumn("{task.fields[says]}"))
        self._bars = Progress(*columns, console=console, transient=True)
        self._tasks: dict[str, TaskID] = {}
        self._pace = Pace(time.monotonic)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bars.stop()

    def packing(self, files: int, size: int) -> None:
        task = self._task("read", None)
        self._bars.update(task, says=f"{ENGLISH.count(files, 'file')}, {size / MEGABYTE:,.1f} MB")

    def show(self, run: Run, stages: list[StageProgress]) -> None:
        if "read" in self._tasks:
            self._bars.update(self._tasks["read"], total=1, completed=1)
        for stage in stages:
            if stage.jobs:
                total, done = (
                    (stage.weight, stage.weight_done) if stage.weight else (stage.jobs, stage.done + stage.failed)
                )
                task = self._task(stage.name, total)
                says = describe(stage, self._pace.rate(stage), units_of(run, stage.name))
                self._bars.update(task, total=total, completed=done, says=says)

    def tell(self, says: str) -> None:
        self._bars.console.print(f"jarvis: {plain(says)}", markup=False, highlight=False, soft_wrap=True)

    def _task(self, name: str, total: int | None) -> TaskID:
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total, says="")
        return self._tasks[name]


def _in_unit(size: float, like: float) -> str:
    """Format a number of bytes in the unit that suits the size `like`."""
    return f"{size / MEGABYTE:,.1f} MB" if like >= MEGABYTE else f"{size / KILOBYTE:,.1f} kB"


def current(stages: list[StageProgress]) -> list[StageProgress]:
    """Return the active stages: the first open one, and the streamed stages that already have jobs."""
    still_open = [stage for stage in stages if stage.state == "open"]
    return still_open[:1] + [stage for stage in still_open[1:] if stage.jobs]


def describe(stage: StageProgress, rate: float, units: str = JOBS, say: Words = ENGLISH) -> str:
    """Return the progress of a stage in one line, with the time left if the rate is known; `units` names its jobs."""
    if not stage.jobs:
        return say("no {units} yet", units=say("jobs"))
    text, left = f"{stage.done + stage.failed:,}/{stage.jobs:,} {say(units)}", stage.jobs - stage.done - stage.failed
    text += _translated(stage, say) if stage.proofs else ""
    if stage.weight:
        done = _in_unit(stage.weight_done, stage.weight).partition(" ")[0]
        text += f", {done}/{_in_unit(stage.weight, stage.weight)}"
        text += f", {_in_unit(rate, rate)}/s" if rate > 0 else ""
        left = stage.weight - stage.weight_done
    elif rate * MINUTE >= 1:
        text += say(", {number} a minute", number=f"{rate * MINUTE:,.0f}")
    seconds = stage.seconds_left or (left / rate if rate > 0 else 0.0)
    text += say(", {number} s left", number=f"{seconds:,.0f}") if seconds and left > 0 else ""
    return text + "".join(_totals(stage, say))


def _totals(stage: StageProgress, say: Words) -> Iterator[str]:
    """Yield what was cached, what the stage cost and will cost, and how many jobs failed, each only if there is any."""
    if stage.cached and stage.files:
        yield say(", {cached} of {files} files cached", cached=f"{stage.cached:,}", files=f"{stage.files:,}")
    elif stage.cached:
        yield say(", {cached} of {jobs} jobs cached", cached=f"{stage.cached:,}", jobs=f"{stage.jobs:,}")
    if stage.tokens_left:
        whole = f"{round(stage.tokens + stage.tokens_left, -2):,}"
        yield say(", {number} of about {all} tokens", number=f"{stage.tokens:,}", all=whole)
    elif stage.tokens:
        yield say(", {number} tokens", number=f"{stage.tokens:,}")
    if stage.cost and stage.cost_left:
        whole = cost_text(stage.cost + stage.cost_left, say)
        yield say(", {cost} of about {all}", cost=cost_text(stage.cost, say), all=whole)
    elif stage.cost or stage.cost is None:
        yield say(", {cost}", cost=cost_text(stage.cost, say))
    if stage.failed:
        yield say(", {number} failed", number=f"{stage.failed:,}")


def _translated(stage: StageProgress, say: Words) -> str:
    """Return the numbers of functions with an accepted body of the model, by proof, and of those without one."""
    accepted = stage.accepted
    proofs = f" ({', '.join(f'{number:,} {proof}' for proof, number in accepted.items())})" if accepted else ""
    return say(
        ", {accepted} accepted{proofs}, {rest} stepped down",
        accepted=f"{sum(accepted.values()):,}",
        proofs=proofs,
        rest=f"{stage.stepped_down:,}",
    )
