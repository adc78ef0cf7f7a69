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

from jarvis_workers.dispatch.leased_jobs import Holder, LeasedJobs
from jarvis_workers.errors import StoreUnavailable
from jarvis_workers.futures import settle
from jarvis_workers.pipeline.store_retry import retry_store
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Finished

GATHER_SECONDS = 0.02


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
        self._told = told or threading.Event()
        self._jobs = LeasedJobs(store, holder, lose, self._told)
        self._asked: SimpleQueue[WriteRequest | None] = SimpleQueue()

    @property
    def held(self) -> list[Claimed]:
        """The jobs whose leases are renewed."""
        return self._jobs.held

    def claim(self, job_id: int) -> Claimed | None:
        """Claim the job of a notification; None if it cannot be claimed."""
        taken: Claimed | None = self._ask(self._jobs.claim, job_id, job_id)
        return taken

    def commit(self, finished: Finished) -> bool:
        """Save what a job did; False when it was lost meanwhile."""
        return bool(self._ask(self._jobs.commit, finished.job, finished))

    def fail(self, job: Claimed, reason: str) -> bool:
        """Record a failed attempt; False when the job was lost meanwhile."""
        return bool(self._ask(self._jobs.fail, job, (job, reason)))

    def release(self, job: Claimed) -> bool:
        """Put a job back without blame; False, and nothing happens, when it was lost."""
        return bool(self._ask(self._jobs.release, job, job))

    def close(self) -> None:
        """Let `run` return when everything asked so far is done."""
        self._asked.put(None)

    def run(self) -> None:
        """Write what is asked, until closed."""
        closing, due = False, self._jobs.next_renewal()
        while not closing:
            batch = self._gather(due)
            closing = None in batch
            for do in (self._jobs.release, self._jobs.fail, self._jobs.commit, self._jobs.claim):
                if asked := [one for one in batch if one and one.do == do]:
                    self._together(asked)
            if time.monotonic() >= due:
                self._jobs.renew()
                due = self._jobs.next_renewal()

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
        contents = [one.content for one in asked]
        done = settle(Future[Mapping[Any, Any]](), retry_store, lambda: asked[0].do(contents), self._told)
        error = done.exception()
        if error is None:
            answers = dict(done.result())
            for one in asked:
                one.answer.set_result(answers.pop(one.key, None))
        elif len(asked) == 1 or isinstance(error, StoreUnavailable):
            for one in asked:
                self._jobs.forget(one.key)
                one.answer.set_exception(error)
        else:
            for one in asked:
                self._together([one])
