"""The prefork task: run the job that a message names, in the process that received it.

The store is opened lazily, by pid, since Celery's children are forked and must not share connections.  Store operations
are retried during an outage, with a deadline; the job's result stays in memory meanwhile.
"""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from jarvis_workers import telemetry
from jarvis_workers.agents.conversations.observer import NOBODY, Observer
from jarvis_workers.errors import BlobsUnavailable, StoreError
from jarvis_workers.executors.dispatch import job_log
from jarvis_workers.executors.dispatch.job_task import execute
from jarvis_workers.pipeline.outage import Outage
from jarvis_workers.pipeline.runner import run_job, save
from jarvis_workers.pipeline.store_retry import retry_store
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import dispatching, jobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Commit
from jarvis_workers.toolchain.limits import cpu_seconds

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

T = TypeVar("T")


@dataclass
class PreforkRunner:
    """Executes jobs in a process of a prefork pool (`job_task.JobHost`); `open_world` opens its store and resources.

    `lease_seconds` is the lease of its jobs, `worker_lease_seconds` that of the worker's row, which the parent renews.
    """

    worker_id: str
    lease_seconds: float
    open_world: Callable[[], tuple[Store, Resources, Callable[[], None]]]
    worker_lease_seconds: float
    observer: Observer = NOBODY
    outage: Outage = field(default_factory=lambda: Outage(job_log.outage))
    _executes: threading.Lock = field(default_factory=threading.Lock)
    _spent: dict[int, float] = field(default_factory=dict)
    _worlds: dict[int, tuple[Store, Resources, Callable[[], None]]] = field(default_factory=dict)

    @property
    def process(self) -> str:
        """The name of this process in the store: worker id and pid."""
        return f"{self.worker_id}/{os.getpid()}"

    def do(self, job_id: int) -> None:
        """Execute the job that a message names."""
        with self._executes:
            execute(self, job_id)

    def release_lost(self) -> None:
        """Release the jobs that the store assigns to this process, if it executes none."""
        if os.getpid() not in self._worlds or not self._executes.acquire(blocking=False):
            return
        try:
            with self._world()[0].write() as session:
                strays = jobs.release_strays(session, self.worker_id, (), self.process)
            job_log.released_strays(strays, self.process)
        except (StoreError, MemoryError, OSError) as problem:  # until the next time
            telemetry.warning("release failed", says=f"{type(problem).__name__}: {problem}")
        finally:
            self._executes.release()

    def claim(self, job_id: int) -> Claimed | None:
        return self.reach(lambda store: self._claim(store, job_id))

    def decide(self, job: Claimed) -> Commit | None:
        # A process does not wait for the blob store with a job: another worker may read it.
        return retry_store(lambda: run_job(*self._world()[:2], job), unless=(BlobsUnavailable,))

    def save(self, job: Claimed, commit: Commit) -> bool:
        done = [(job, commit._replace(cpu_seconds=self._cpu()))]
        return job.id in self.reach(lambda store: save(store, self._world()[1].blobs, done))

    def fail(self, job: Claimed, reason: str) -> bool:
        return self._write(lambda session: jobs.fail_attempt(session, job, reason))

    def release(self, job: Claimed) -> bool:
        return self._write(lambda session: bool(jobs.release(session, [job])))

    def pause(self, error: Exception) -> None:
        self.outage.pause(error, self._world()[1].blobs.responds, threading.Event())

    def reach(self, change: Callable[[Store], T]) -> T:
        return retry_store(lambda: change(self._world()[0]))

    def notify(self) -> None:
        self._world()[2]()

    def _world(self) -> tuple[Store, Resources, Callable[[], None]]:
        pid = os.getpid()
        if pid not in self._worlds:
            self._worlds = {pid: self.open_world()}
        return self._worlds[pid]

    def _cpu(self) -> float:
        """Return the CPU seconds of this process since the last job, or since its start for the first job."""
        pid, total = os.getpid(), cpu_seconds()
        since = self._spent.get(pid, 0.0)
        self._spent = {pid: total}
        return total - since

    def _claim(self, store: Store, job_id: int) -> Claimed | None:
        """Claim a job; release any other that the store assigns to this process, which runs one job at a time.

        The response to its claim was lost, or the database lost the commit of its end (a restored snapshot, or a
        standby that was behind).
        """
        with store.write() as session:
            strays = jobs.release_strays(session, self.worker_id, (), self.process)
            claimed = dispatching.claim_sent(
                session,
                job_id,
                worker_id=self.worker_id,
                process=self.process,
                lease_seconds=self.lease_seconds,
                worker_lease_seconds=self.worker_lease_seconds,
            )
        job_log.released_strays(strays, self.process)
        return claimed

    def _write(self, change: Callable[["Session"], bool]) -> bool:
        def write(store: Store) -> bool:
            with store.write() as session:
                return change(session)

        return self.reach(write)


def release_lost_jobs(runner: PreforkRunner) -> threading.Event:
    """Start a thread that releases the lost jobs of this process once in a lease, since it may get no further message.

    Return the event that ends it.
    """
    ends = threading.Event()

    def release() -> None:
        while not ends.wait(runner.worker_lease_seconds):
            runner.release_lost()

    threading.Thread(target=release, daemon=True).start()
    return ends
