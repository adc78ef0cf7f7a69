"""The store writer: one thread batches the claims, renewals and commits of all conversations of a process.

No conversation holds a session, and no two claims race for the room that suspects have.  What
is asked within GATHER_SECONDS shares a transaction; leases are renewed at a third of their time.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from jarvis_workers.errors import StoreError, StoreUnavailable
from jarvis_workers.pipeline.store_retry import patiently
from jarvis_workers.store import dispatching, jobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Finished

GATHER_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Holder:
    """Who claims: in the store a worker and its process, with leases of a length."""

    worker_id: str
    process: str
    lease_seconds: float


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """Something to be written: `do` says how, `key` which answer is for whom asked."""

    do: Callable[[Sequence[Any]], Mapping[Any, Any]]
    key: Any
    content: Any
    answer: Future[Any] = field(default_factory=Future)


class JobWriter:
    """Writes until it is closed; once `told` is set, nothing is claimed and no store is waited for."""

    def __init__(
        self, store: Store, holder: Holder, lose: Callable[[Claimed], None], told: threading.Event | None = None
    ) -> None:
        self.store, self.holder = store, holder
        self._lose = lose
        self._told = told or threading.Event()
        self._asked: SimpleQueue[WriteRequest | None] = SimpleQueue()
        self._held: set[Claimed] = set()
        self._in_doubt = False
        self._spent = time.process_time()

    @property
    def held(self) -> list[Claimed]:
        """The jobs whose leases are renewed."""
        return list(self._held)

    def claim(self, job_id: int) -> Claimed | None:
        """Take a job that was rung for; None when it is not to be had."""
        taken: Claimed | None = self._ask(self._claim, job_id, job_id)
        return taken

    def commit(self, finished: Finished) -> bool:
        """Save what a job did; False when it was lost meanwhile."""
        return bool(self._ask(self._commit, finished.job, finished))

    def fail(self, job: Claimed, reason: str) -> bool:
        """Record a failed attempt; False when the job was lost meanwhile."""
        return bool(self._ask(self._fail, job, (job, reason)))

    def release(self, job: Claimed) -> bool:
        """Put a job back without blame; False, and nothing happens, when it was lost."""
        return bool(self._ask(self._release, job, job))

    def close(self) -> None:
        """Let `run` return when everything asked so far is done."""
        self._asked.put(None)

    def run(self) -> None:
        """Write what is asked, until closed."""
        closing, due = False, self._next_renewal()
        while not closing:
            batch = self._gather(due)
            closing = None in batch
            for do in (self._release, self._fail, self._commit, self._claim):
                if asked := [one for one in batch if one and one.do == do]:
                    self._together(asked)
            if time.monotonic() >= due:
                self._renew()
                due = self._next_renewal()

    def _next_renewal(self) -> float:
        return time.monotonic() + self.holder.lease_seconds / 3

    def _ask(self, do: Callable[[Sequence[Any]], Mapping[Any, Any]], key: Any, content: Any) -> Any:
        asked = WriteRequest(do, key, content)
        self._asked.put(asked)
        return asked.answer.result()

    def _gather(self, due: float) -> list[WriteRequest | None]:
        """Return what is asked within a moment of the first, or nothing when a renewal is due."""
        batch: list[WriteRequest | None] = []
        give_up = due
        try:
            while True:
                batch.append(self._asked.get(timeout=max(0.0, give_up - time.monotonic())))
                give_up = min(give_up, time.monotonic() + GATHER_SECONDS) if len(batch) == 1 else give_up
        except Empty:
            return batch

    def _together(self, asked: Sequence[WriteRequest]) -> None:
        """Write all at once; what the store refuses is written one by one, so that only the guilty fails."""
        try:
            done = dict(patiently(lambda: asked[0].do([one.content for one in asked]), self._told))
        except Exception as error:  # noqa: BLE001  (handed to the task boundary of each)
            if len(asked) == 1 or isinstance(error, StoreUnavailable):
                for one in asked:
                    self._held.discard(one.key)
                    one.answer.set_exception(error)
            else:
                for one in asked:
                    self._together([one])
        else:
            for one in asked:
                one.answer.set_result(done.pop(one.key, None))

    def _claim(self, ids: Sequence[int]) -> Mapping[int, Claimed]:
        if self._told.is_set():
            return {}
        try:
            taken = self._take(ids)
        except StoreUnavailable:
            self._in_doubt = True
            raise
        self._in_doubt = False
        mine = {job.id for job in taken}
        for earlier in [job for job in self._held if job.id in mine]:
            self._lose(earlier)
            self._held.discard(earlier)
        self._held |= set(taken)
        return {job.id: job for job in taken}

    def _take(self, ids: Sequence[int]) -> list[Claimed]:
        holder = self.holder
        with self.store.write() as session:
            if self._in_doubt:
                jobs.release_strays(session, holder.worker_id, {job.id for job in self._held})
            return dispatching.claim_rung(
                session,
                ids,
                worker_id=holder.worker_id,
                process=holder.process,
                lease_seconds=holder.lease_seconds,
                worker_lease_seconds=holder.lease_seconds,
            )

    def _commit(self, finished: Sequence[Finished]) -> Mapping[Claimed, bool]:
        """Commit, and share the CPU of the process since the last commits among these."""
        total = time.process_time()
        each = (total - self._spent) / len(finished)
        counted = [one._replace(commit=one.commit._replace(cpu_seconds=each)) for one in finished]
        with self.store.write() as session:
            accepted = jobs.commit_many(session, counted)
        self._spent = total
        self._held -= {one.job for one in finished}
        return {one.job: one.job.id in accepted for one in finished}

    def _fail(self, failed: Sequence[tuple[Claimed, str]]) -> Mapping[Claimed, bool]:
        with self.store.write() as session:
            recorded = {job: jobs.fail_attempt(session, job, reason) for job, reason in failed}
        self._held -= set(recorded)
        return recorded

    def _release(self, released: Sequence[Claimed]) -> Mapping[Claimed, bool]:
        with self.store.write() as session:
            back = jobs.release(session, released)
        self._held -= set(released)
        return {job: job.id in back for job in released}

    def _renew(self) -> None:
        """Extend the leases of what is held; what is no longer ours, or of a run that is not on, is lost."""
        held = self.held
        try:
            kept = patiently(lambda: self._extend(held), self._told) if held else set()
        except StoreError:
            kept = set()
        for job in held:
            if job.id not in kept:
                self._lose(job)

    def _extend(self, held: Sequence[Claimed]) -> set[int]:
        with self.store.write() as session:
            return jobs.renew(session, held, self.holder.lease_seconds)
