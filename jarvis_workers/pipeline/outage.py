"""Bear outages of the blob store and of this machine: release the jobs that meet one, for a limited time.

No attempt is charged to a job until the outage has lasted for the patience; then its attempts fail, which are limited.
An outage of the blob store ends with the next job that is done; the lack of memory or descriptors is judged job by job,
since other jobs may need less.  A disk without space for results pauses a run, but only after `full_seconds`.
"""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from jarvis_workers.errors import BlobsUnavailable, HostExhausted
from jarvis_workers.pipeline.attempt import OUTAGES, AttemptOutcome, Done, Failed, Full, Released, reason_of
from jarvis_workers.pipeline.store_retry import PATIENCE_SECONDS
from jarvis_workers.store.values import Claimed

BLOBS = "blobs"
LOOK_SECONDS = 0.5
# An outage that no job has met for this long is over.
QUIET_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class OutageLimits:
    """Limits in seconds of outages before they count, and of the pause of a process after one.

    `blobs` limits outages of the blob store, `host` those of this machine, and `full` waits for disk space.
    `blob_pause` is the longest pause of a process while no blob can be read, `host_pause` its pause after a lack of
    memory, descriptors or disk space.
    """

    blobs: float = PATIENCE_SECONDS
    host: float = PATIENCE_SECONDS
    full: float = 90.0
    blob_pause: float = 20.0
    host_pause: float = 2.0


@dataclass
class Outage:
    """The outages that the jobs of a process meet; `tell` is called once for each. Thread-safe."""

    tell: Callable[[str], None]
    limits: OutageLimits = OutageLimits()
    clock: Callable[[], float] = time.monotonic
    _since: dict[Hashable, float] = field(default_factory=dict)
    _met: float | None = None

    def judge(self, job: Claimed, outcome: AttemptOutcome) -> AttemptOutcome:
        """Return the outcome of a job: an outage that has lasted too long is a failed attempt, or pauses the run."""
        match outcome:
            case Released(error) if isinstance(error, OUTAGES):
                of_blobs = isinstance(error, BlobsUnavailable)
                limit = self.limits.blobs if of_blobs else self.limits.host
                too_long = self._is_over(limit, BLOBS if of_blobs else job.id, str(error))
                return Failed(reason_of(error)) if too_long else outcome
            case Full(reason) if self.limits.full:
                too_long = self._is_over(self.limits.full, ("full", job.run_id), reason)
                return outcome if too_long else Released(HostExhausted(reason))
            case Done():
                for ended in (BLOBS, job.id, ("full", job.run_id)):
                    self._since.pop(ended, None)
        return outcome

    def pause(self, error: Exception, is_over: Callable[[], bool], stop: threading.Event) -> None:
        """Wait, so that released jobs are not claimed at once; for the blob store, until `is_over` at the latest."""
        of_blobs = isinstance(error, BlobsUnavailable)
        give_up = self.clock() + (self.limits.blob_pause if of_blobs else self.limits.host_pause)
        while (rest := give_up - self.clock()) > 0 and not stop.wait(min(LOOK_SECONDS, rest)):
            if of_blobs and is_over():
                return

    def _is_over(self, limit: float, key: Hashable, says: str) -> bool:
        """Return whether an outage has lasted longer than its limit; report a new one."""
        now = self.clock()
        if self._met is None or now - self._met > QUIET_SECONDS:
            self._since.clear()
            self.tell(f"{says}; jobs that meet this are released for up to {limit:.0f} s")
        self._met = now
        return now - self._since.setdefault(key, now) > limit
