"""What a command says on standard error while it works, and of how it ended; `progress` shows how far it is, too."""

import sys
from types import TracebackType
from typing import Protocol, Self

from jarvis_workers.paths import plain
from jarvis_workers.store.values import Run, StageProgress

__all__ = ["Display", "Quiet", "Talking", "write_line"]


class Display(Protocol):
    """What a command tells while it works; all of it on standard error."""

    def packing(self, files: int, size: int) -> None: ...
    def show(self, run: Run, stages: list[StageProgress]) -> None: ...
    def tell(self, says: str) -> None: ...
    def found(self, says: str) -> None: ...
    def conclude(self, says: str, *, well: bool) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...


def write_line(says: str) -> None:
    """Write a line to standard error."""
    if sys.stderr:
        sys.stderr.write(f"jarvis: {plain(says)}\n")
        sys.stderr.flush()


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
        write_line(says)

    def found(self, says: str) -> None:
        """Say nothing."""

    def conclude(self, says: str, *, well: bool) -> None:
        """Say how it ended, unless all is well."""
        if not well:
            self.tell(says)


class Talking(Quiet):
    """Says how it ended, too, and what was found on the way."""

    def found(self, says: str) -> None:
        self.tell(says)

    def conclude(self, says: str, *, well: bool) -> None:
        self.tell(says)
