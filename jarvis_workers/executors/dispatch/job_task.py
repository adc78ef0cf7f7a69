"""The task of a pool process: claim the job of a notification, attempt it, save and log the outcome."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TypeVar

from jarvis_workers.agents.conversations.observer import JobExecution, JobOutcome, Observer
from jarvis_workers.errors import BrokerUnavailable, StoreError
from jarvis_workers.executors.dispatch import job_log
from jarvis_workers.pipeline.attempt import OUTAGES, AttemptOutcome, Done, Failed, Full, Lost, Released, attempt
from jarvis_workers.pipeline.controller import advance
from jarvis_workers.pipeline.outage import Outage
from jarvis_workers.pipeline.stages import PLAN
from jarvis_workers.store import runs, stages
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Commit

T = TypeVar("T")


class JobHost(Protocol):
    """The operations of a pool process on jobs and the store; each waits while the store is unavailable.

    `save`, `fail` and `release` return False, without effect, if the lease was lost meanwhile.
    """

    @property
    def process(self) -> str: ...

    @property
    def observer(self) -> Observer: ...

    def claim(self, job_id: int) -> Claimed | None: ...

    def decide(self, job: Claimed) -> Commit | None: ...

    def save(self, job: Claimed, commit: Commit) -> bool: ...

    def fail(self, job: Claimed, reason: str) -> bool: ...

    def release(self, job: Claimed) -> bool: ...

    @property
    def outage(self) -> Outage: ...

    def pause(self, error: Exception) -> None:
        """Wait before a release because of an outage, so that the job is not claimed again at once."""

    def reach(self, change: Callable[[Store], T]) -> T: ...

    def notify(self) -> None: ...


def execute(host: JobHost, job_id: int) -> None:
    """Execute a job once, if it can be claimed.

    A job that meets an outage of the blob store or of this machine is released after a pause: with a job, the process
    does not look as if it had stopped consuming. Raises another StoreError of the attempt after releasing the job.
    """
    job = host.claim(job_id)
    if job is None:
        return job_log.refused(job_id, host.process)
    began, began_at = time.monotonic(), time.time()
    job_log.claimed(job, host.process)
    outcome = host.outage.judge(job, attempt(lambda: _decide_and_save(host, job, began)))
    host.observer.job_ended(_execution(job, outcome, began_at, time.monotonic() - began))
    match outcome:
        case Full(reason):
            try:
                host.reach(lambda store: pause(store, job, reason, host.process))
            finally:
                job_log.released(job, accepted=host.release(job))
            return None
        case Released(error):
            is_outage = isinstance(error, OUTAGES)
            if is_outage:
                host.pause(error)
            job_log.released(job, accepted=host.release(job))
            if isinstance(error, StoreError) and not is_outage:
                raise error
            return None
        case Failed(reason):
            job_log.failed(job, reason, time.monotonic() - began, accepted=host.fail(job, reason))
        case Lost():
            job_log.lost(job)
    host.reach(lambda store: _go_on(store, job, host.notify))


def _decide_and_save(host: JobHost, job: Claimed, began: float) -> Commit | None:
    commit = host.decide(job)
    if commit is None or not host.save(job, commit):
        return None
    job_log.saved(job, commit, time.monotonic() - began, accepted=True)
    return commit


def _execution(job: Claimed, outcome: AttemptOutcome, began: float, seconds: float) -> JobExecution:
    match outcome:
        case Done(commit):
            return JobExecution(job, "done", began, seconds, commit.size)
        case Failed():
            name: JobOutcome = "failed"
        case Lost():
            name = "lost"
        case _:
            name = "released"
    return JobExecution(job, name, began, seconds)


def _go_on(store: Store, job: Claimed, notify: Callable[[], None]) -> None:
    """Advance the run at once if this was the last open job; if that fails, the controller's next tick does."""
    with store.read() as session:
        open_jobs = stages.has_open_jobs(session, job.run_id, job.stage)
    if not open_jobs:
        with store.write() as session:
            advance(session, job.run_id)
    if job.step == PLAN or not open_jobs:
        with suppress(BrokerUnavailable):
            notify()


def pause(store: Store, job: Claimed, why: str, process: str) -> None:
    """Pause a run that is out of disk space; must precede the release of the job, or it would be sent again at once."""
    reason = f"{why} (process {process})"
    with store.write() as session:
        paused = runs.pause(session, job.run_id, reason)
    if paused:
        job_log.paused(job, reason)
