"""Claims, renewals and commits of a process with many jobs, several per transaction."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jarvis_workers import telemetry
from jarvis_workers.errors import StoreError, StoreUnavailable
from jarvis_workers.executors.dispatch import job_log
from jarvis_workers.pipeline.store_retry import retry_store
from jarvis_workers.store import dispatching, jobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Finished

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of leases: a worker and its process, and the duration of their leases."""

    worker_id: str
    process: str
    lease_seconds: float


class LeasedJobs:
    """The jobs that a process has claimed, and their operations in the store. Not thread-safe.

    `commit`, `fail` and `release` return for each job whether its lease was still valid.  `lose` is called with each
    job whose lease is lost.
    """

    def __init__(self, store: Store, holder: Holder, lose: Callable[[Claimed], None], stop: threading.Event) -> None:
        self.store, self.holder = store, holder
        self._lose = lose
        self._stop = stop
        self._claims: set[Claimed] = set()
        self._spent = time.process_time()

    @property
    def claims(self) -> list[Claimed]:
        """The jobs whose leases are renewed."""
        return list(self._claims)

    def next_renewal(self) -> float:
        """Return the monotonic time at which leases that are renewed now must be renewed again."""
        return time.monotonic() + self.holder.lease_seconds / 3

    def forget(self, key: Any) -> None:
        """Stop renewing the lease of a job; keys that are not jobs are ignored."""
        self._claims.discard(key)

    def claim(self, ids: Sequence[int]) -> Mapping[int, Claimed]:
        """Claim jobs; return the claimed ones by id."""
        if self._stop.is_set():
            return {}
        claims = self._take(ids)
        mine = {job.id for job in claims}
        for earlier in [job for job in self._claims if job.id in mine]:
            self._lose(earlier)
            self._claims.discard(earlier)
        self._claims |= set(claims)
        return {job.id: job for job in claims}

    def _take(self, ids: Sequence[int]) -> list[Claimed]:
        holder = self.holder
        with self.store.write() as session:
            self._release_strays(session)
            return dispatching.claim_notified(
                session,
                ids,
                worker_id=holder.worker_id,
                process=holder.process,
                lease_seconds=holder.lease_seconds,
                worker_lease_seconds=holder.lease_seconds,
            )

    def commit(self, finished: Sequence[Finished]) -> Mapping[Claimed, bool]:
        """Commit results; the CPU seconds of the process since the last commit are divided equally among them."""
        total = time.process_time()
        each = (total - self._spent) / len(finished)
        counted = [one._replace(commit=one.commit._replace(cpu_seconds=each)) for one in finished]
        with self.store.write() as session:
            accepted = jobs.commit_many(session, counted)
        self._spent = total
        self._claims -= {one.job for one in finished}
        return {one.job: one.job.id in accepted for one in finished}

    def fail(self, failed: Sequence[tuple[Claimed, str]]) -> Mapping[Claimed, bool]:
        """Record failed attempts."""
        with self.store.write() as session:
            recorded = {job: jobs.fail_attempt(session, job, reason) for job, reason in failed}
        self._claims -= set(recorded)
        return recorded

    def release(self, released: Sequence[Claimed]) -> Mapping[Claimed, bool]:
        """Release jobs without a crash count."""
        with self.store.write() as session:
            back = jobs.release(session, released)
        self._claims -= set(released)
        return {job: job.id in back for job in released}

    def renew(self) -> None:
        """Extend all leases; jobs whose leases expired, or whose runs are no longer running, are lost.

        Jobs that the store assigns to this process, but that it does not execute, are released: their end was lost.
        """
        claims = self.claims
        try:
            renewed = retry_store(lambda: self._extend(claims), self._stop)
        except StoreUnavailable:
            renewed = set()
        except (StoreError, MemoryError, OSError) as problem:  # the next renewal is due before the leases expire
            telemetry.warning("renewal failed", says=f"{type(problem).__name__}: {problem}")
            return
        for job in claims:
            if job.id not in renewed:
                self._lose(job)

    def _extend(self, claims: Sequence[Claimed]) -> set[int]:
        with self.store.write() as session:
            self._release_strays(session)
            return jobs.renew(session, claims, self.holder.lease_seconds)

    def _release_strays(self, session: "Session") -> None:
        process, ids = self.holder.process, {job.id for job in self._claims}
        job_log.released_strays(jobs.release_strays(session, self.holder.worker_id, ids, process), process)
