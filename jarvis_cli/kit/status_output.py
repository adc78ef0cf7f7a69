"""Messages on stderr during a command and about its outcome; `progress` adds progress displays."""

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from jarvis_workers.paths import plain
from jarvis_workers.store.values import Run, StageProgress

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
