"""Progress and cancellation of a scan."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Literal

from jarvis_workers.errors import ScanCancelled

Stage = Literal["pack", "scan", "summarize", "flow", "report"]


@dataclass(frozen=True, slots=True)
class ScanProgress:
    """The progress of a stage of a scan.

    `done` and `total` are bytes of source, in stage `report` jobs; `total` is 0 while unknown. `files` is the number of
    files completed in this stage, `findings` the number of candidates so far, some of which later stages drop.
    """

    stage: Stage
    done: int
    total: int
    files: int
    findings: int

    @property
    def fraction(self) -> float:
        """The completed fraction of the stage, from 0 to 1; 0 if the total is unknown."""
        return self.done / self.total if self.total else 0.0


ProgressCallback = Callable[[ScanProgress], None]


class CancelToken:
    """Cancels the scans that use it, from any thread or from a signal handler. It cannot be reset."""

    def __init__(self, parent: "CancelToken | None" = None) -> None:
        """Create a token; with a `parent` it is cancelled together with the parent."""
        self._event = Event()
        self._parent = parent

    def cancel(self) -> None:
        """Make the scans raise ScanCancelled within a second."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set() or (self._parent is not None and self._parent.cancelled)

    def check(self) -> None:
        """Raise ScanCancelled if `cancel` was called."""
        if self.cancelled:
            raise ScanCancelled("the scan was cancelled")
