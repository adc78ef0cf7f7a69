"""The prefork task: run the job that a message names, in the process that received it.

The store is opened lazily, by pid: Celery's children are forked, and share no connection.  A
store outage is retried with a deadline; the job's result stays in memory meanwhile.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from jarvis_workers.dispatch import job_log
from jarvis_workers.errors import BrokerUnavailable, StoreError, StoreFull, StoreUnavailable
from jarvis_workers.pipeline.controller import advance
from jarvis_workers.pipeline.runner import perform, save
from jarvis_workers.pipeline.stages import PLAN
from jarvis_workers.pipeline.store_retry import patiently
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import dispatching, jobs, runs, stages
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed
from jarvis_workers.toolchain.limits import cpu_seconds


@dataclass
class PreforkRunner:
    """What a process of a pool works with. `open_world` opens its own store and resources.

    Its jobs have `lease_seconds`; its worker, which its parent keeps alive in the store, `worker_lease_seconds`.
    """

    worker_id: str
    lease_seconds: float
    open_world: Callable[[], tuple[Store, Resources, Callable[[], None]]]
    worker_lease_seconds: float
    _claim_in_doubt: bool = False
    _spent: dict[int, float] = field(default_factory=dict)
    _worlds: dict[int, tuple[Store, Resources, Callable[[], None]]] = field(default_factory=dict)

    @property
    def process(self) -> str:
        """The name of this process in the store: its worker, and its pid."""
        return f"{self.worker_id}/{os.getpid()}"

    def do(self, job_id: int) -> None:
        """Claim, decide, save; a task boundary: what the job raises is recorded on its row."""
        store, resources, ring = patiently(self._world)
        job = patiently(lambda: self._claim(store, job_id))
        if job is None:
            return job_log.refused(job_id, self.process)
        began = time.monotonic()
        job_log.claimed(job, self.process)
        try:
            commit = patiently(lambda: perform(store, resources, job))
            if commit is None:
                job_log.lost(job)
            else:
                counted = commit._replace(cpu_seconds=self._cpu())
                accepted = patiently(lambda: save(store, resources.blobs, [(job, counted)]))
                job_log.saved(job, counted, time.monotonic() - began, accepted=job.id in accepted)
        except StoreFull as full:
            reason = str(full)
            try:
                patiently(lambda: pause(store, job, reason, self.process))
            finally:
                job_log.released(job, accepted=patiently(lambda: self._release(store, job)))
            return None
        except StoreError:
            job_log.released(job, accepted=patiently(lambda: self._release(store, job)))
            raise
        except Exception as error:  # noqa: BLE001  (the task boundary)
            says = f"{type(error).__name__}: {error}"
            recorded = patiently(lambda: self._fail(store, job, says))
            job_log.failed(job, says, time.monotonic() - began, accepted=recorded)
        patiently(lambda: go_on(store, job, ring))

    def _world(self) -> tuple[Store, Resources, Callable[[], None]]:
        pid = os.getpid()
        if pid not in self._worlds:
            self._worlds = {pid: self.open_world()}
        return self._worlds[pid]

    def _cpu(self) -> float:
        """Return the CPU of this process since the last job, its start included for the first."""
        pid, total = os.getpid(), cpu_seconds()
        since = self._spent.get(pid, 0.0)
        self._spent = {pid: total}
        return total - since

    def _claim(self, store: Store, job_id: int) -> Claimed | None:
        """Claim a job; an earlier claim whose answer was lost is put back, as this process does one job at a time."""
        try:
            with store.write() as session:
                if self._claim_in_doubt:
                    jobs.release_strays(session, self.worker_id, (), self.process)
                claimed = dispatching.claim_sent(
                    session,
                    job_id,
                    worker_id=self.worker_id,
                    process=self.process,
                    lease_seconds=self.lease_seconds,
                    worker_lease_seconds=self.worker_lease_seconds,
                )
        except StoreUnavailable:
            self._claim_in_doubt = True
            raise
        self._claim_in_doubt = False
        return claimed

    def _release(self, store: Store, job: Claimed) -> bool:
        with store.write() as session:
            return bool(jobs.release(session, [job]))

    def _fail(self, store: Store, job: Claimed, says: str) -> bool:
        with store.write() as session:
            return jobs.fail_attempt(session, job, says)


def go_on(store: Store, job: Claimed, ring: Callable[[], None]) -> None:
    """Move the run on at once when this was the last open job; the controller's tick sees to it otherwise."""
    with store.read() as session:
        open_jobs = stages.has_open_jobs(session, job.run_id, job.stage)
    if not open_jobs:
        with store.write() as session:
            advance(session, job.run_id)
    if job.step == PLAN or not open_jobs:
        with suppress(BrokerUnavailable):
            ring()


def pause(store: Store, job: Claimed, why: str, process: str) -> None:
    """Pause a run for which there is no room: before the job goes back, or it would be rung for again at once."""
    reason = f"{why} (process {process})"
    with store.write() as session:
        paused = runs.pause(session, job.run_id, reason)
    if paused:
        job_log.paused(job, reason)
