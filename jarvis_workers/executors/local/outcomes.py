"""The outcomes of jobs of a local executor, and how they are saved in the store."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from jarvis_workers.errors import StoreError, StoreFull
from jarvis_workers.pipeline.attempt import OUTAGES, AttemptOutcome, Died, Done, Failed, Full, Released, attempt
from jarvis_workers.pipeline.runner import run_job, save
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import crash_attribution, events, jobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed


class JobOutcome(NamedTuple):
    """The outcome of a job; `process` is the child that executed it, "" for the process of the command itself."""

    job: Claimed
    outcome: AttemptOutcome
    process: str = ""


def save_outcomes(store: Store, blobs: Blobs, outcomes: Sequence[JobOutcome]) -> None:
    """Save all outcomes; then raise StoreFull if there was no space for one of the results."""
    commits = [(one.job, one.outcome.commit) for one in outcomes if isinstance(one.outcome, Done)]
    if commits:
        save(store, blobs, commits)
    with store.write() as session:
        jobs.release(session, [one.job for one in outcomes if isinstance(one.outcome, Released | Full)])
        for one in outcomes:
            if isinstance(one.outcome, Failed):
                jobs.fail_attempt(session, one.job, one.outcome.reason)
            elif isinstance(one.outcome, Died):
                recovered = crash_attribution.crash_process(session, one.process, one.outcome.how)
                for run_id, stage, lost in crash_attribution.by_stage(recovered):
                    events.record(session, run_id, "crashed", stage, jobs=lost, how=one.outcome.how)
    for one in outcomes:
        if isinstance(one.outcome, Full):
            raise StoreFull(one.outcome.reason)


# Control jobs (plans and reports), one at a time, in a separate thread, or inline for debuggers.


class ControlThread:
    """Executes one job at a time.

    `wake` is called when it has ended, from any thread; with `inline`, `start` runs the job.
    """

    def __init__(self, store: Store, resources: Resources, wake: Callable[[], None], *, inline: bool = False) -> None:
        self._perform = partial(run_job, store, resources)
        self._wake = wake
        self._thread = None if inline else ThreadPoolExecutor(1, thread_name_prefix="control")
        self._current: tuple[Claimed, Future[AttemptOutcome]] | None = None

    @property
    def claims(self) -> list[Claimed]:
        """The current job, if any."""
        return [self._current[0]] if self._current else []

    def start(self, job: Claimed) -> None:
        """Start a job."""
        execute = partial(attempt, partial(self._perform, job))
        future = self._thread.submit(execute) if self._thread else _executed(execute)
        self._current = (job, future)
        future.add_done_callback(lambda _: self._wake())

    def take(self) -> list[JobOutcome]:
        """Return the outcome of the job, if it has ended. Raises its StoreError, unless that is an outage of blobs."""
        if not self._current or not self._current[1].done():
            return []
        (job, future), self._current = self._current, None
        outcome = future.result()
        is_outage = isinstance(outcome, Released) and isinstance(outcome.error, OUTAGES)
        if isinstance(outcome, Released) and isinstance(outcome.error, StoreError) and not is_outage:
            raise outcome.error
        return [JobOutcome(job, outcome)]

    def forget(self) -> None:
        """Drop the current job; its outcome is ignored."""
        self._current = None

    def close(self) -> None:
        """Wait for the current job and end the thread."""
        if self._thread:
            self._thread.shutdown(wait=True, cancel_futures=True)


def _executed(execute: Callable[[], AttemptOutcome]) -> Future[AttemptOutcome]:
    future = Future[AttemptOutcome]()
    future.set_result(execute())
    return future
