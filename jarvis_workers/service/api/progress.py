"""Progress and cancellation of a scan."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Literal

from jarvis_workers.errors import ScanCancelled

__all__ = ["CancelToken", "ScanProgress", "Stage"]

Stage = Literal["pack", "scan", "summarize", "flow", "report"]


@dataclass(frozen=True, slots=True)
class ScanProgress:
    """A stage of a scan, and how much of it is done.

    `done` and `total` are bytes of source; for `report` they are jobs.  `total` is 0 while it is not known.  `files`
    are those done in this stage, `findings` the places that rules have proposed so far: later stages drop some.
    """

    stage: Stage
    done: int
    total: int
    files: int
    findings: int

    @property
    def fraction(self) -> float:
        """How much of the stage is done, from 0 to 1; 0 where the total is not known."""
        return self.done / self.total if self.total else 0.0


ProgressCallback = Callable[[ScanProgress], None]


class CancelToken:
    """Stops the scans that were given it, from any thread or from a signal handler. It cannot be reset."""

    def __init__(self, parent: "CancelToken | None" = None) -> None:
        """With a `parent` it is cancelled as soon as that is, too."""
        self._event = Event()
        self._parent = parent

    def cancel(self) -> None:
        """Make the scans raise ScanCancelled, within a second."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set() or (self._parent is not None and self._parent.cancelled)

    def check(self) -> None:
        """Raise ScanCancelled if it was."""
        if self.cancelled:
            raise ScanCancelled("the scan was cancelled")
