"""Messages on stderr during a command and about its outcome; `progress` adds progress displays."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from jarvis_workers.errors import StoreError
from jarvis_workers.paths import plain
from jarvis_workers.store.values import Run, StageProgress

if TYPE_CHECKING:
    from jarvis_workers.executors.local.executor import LocalExecutor


Show = Callable[[Run, list[StageProgress]], None]


class Display(Protocol):
    """The messages of a running command; all go to stderr. A quiet one prints only warnings and errors."""

    is_quiet: bool

    def packing(self, files: int, size: int) -> None: ...
    def show(self, run: Run, stages: list[StageProgress]) -> None: ...
    def tell(self, says: str) -> None: ...
    def finding(self, says: str) -> None: ...
    def conclude(self, says: str, *, well: bool) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...


def write_line(says: str) -> None:
    """Write a line to stderr."""
    if sys.stderr:
        sys.stderr.write(f"jarvis: {plain(says)}\n")
        sys.stderr.flush()


def notices(screen: Display, *, quiet: bool) -> Callable[[str], None]:
    """Return the function that prints a notice about a run, which -q suppresses."""
    return no_line if quiet else screen.tell


def no_line(_: str) -> None:
    """Take the place of a function that prints notices, with -q."""


class Quiet:
    """Prints only warnings and errors."""

    is_quiet = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Do nothing."""

    def packing(self, files: int, size: int) -> None:
        """Print nothing."""

    def show(self, run: Run, stages: list[StageProgress]) -> None:
        """Print nothing."""

    def tell(self, says: str) -> None:
        write_line(says)

    def finding(self, says: str) -> None:
        """Print nothing."""

    def conclude(self, says: str, *, well: bool) -> None:
        """Print the outcome, unless the run succeeded."""
        if not well:
            self.tell(says)


class Verbose(Quiet):
    """Prints the outcome as well, and the results found so far."""

    is_quiet = False

    def finding(self, says: str) -> None:
        self.tell(says)

    def conclude(self, says: str, *, well: bool) -> None:
        self.tell(says)


# Execute a run in this process; a message shows users how to resume an interrupted run.


def run_locally(local: "LocalExecutor", run_id: str, screen: Display, *, resumable: bool = True) -> Run:
    """Execute a run until it ends. SIGTERM and SIGHUP are handled like Ctrl-C."""
    with interruptible():
        try:
            return local.carry_out(run_id)
        except (KeyboardInterrupt, StoreError):
            further = f"; continue with: jarvis runs resume {run_id}" if resumable else ""
            screen.tell(f"run {run_id} is not finished{further}")
            raise


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def interruptible(handler: Callable[[int, FrameType | None], None] = _interrupt) -> Iterator[None]:
    """Handle SIGTERM and SIGHUP, by default like Ctrl-C; an ignored signal, as under nohup, stays ignored."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, earlier in before.items():
        if earlier != signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
