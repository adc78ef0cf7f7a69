"""The store writer: one thread batches the claims, renewals and commits of all conversations of a process.

No conversation holds a session, and claims do not race for the few slots of crash suspects.  The requests of
GATHER_SECONDS share a transaction; leases are renewed after a third of their duration.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from jarvis_workers.errors import StoreUnavailable
from jarvis_workers.executors.dispatch.leased_jobs import Holder, LeasedJobs
from jarvis_workers.futures import settle
from jarvis_workers.pipeline.store_retry import retry_store
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Finished

GATHER_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """A write request: `do` executes a batch of contents, `key` selects the result of this request."""

    do: Callable[[Sequence[Any]], Mapping[Any, Any]]
    key: Any
    content: Any
    answer: Future[Any] = field(default_factory=Future)


class JobWriter:
    """Executes write requests until `close`. Once `told` is set, it neither claims jobs nor waits for the store."""

    def __init__(
        self, store: Store, holder: Holder, lose: Callable[[Claimed], None], stop: threading.Event | None = None
    ) -> None:
        self._stop = stop or threading.Event()
        self._jobs = LeasedJobs(store, holder, lose, self._stop)
        self._requests: SimpleQueue[WriteRequest | None] = SimpleQueue()

    @property
    def claims(self) -> list[Claimed]:
        """The jobs whose leases are renewed."""
        return self._jobs.claims

    def claim(self, job_id: int) -> Claimed | None:
        """Claim the job of a notification; None if it cannot be claimed."""
        result: Claimed | None = self._ask(self._jobs.claim, job_id, job_id)
        return result

    def commit(self, finished: Finished) -> bool:
        """Save the result of a job; return False if its lease was lost meanwhile."""
        return bool(self._ask(self._jobs.commit, finished.job, finished))

    def fail(self, job: Claimed, reason: str) -> bool:
        """Record a failed attempt; return False if the lease was lost meanwhile."""
        return bool(self._ask(self._jobs.fail, job, (job, reason)))

    def release(self, job: Claimed) -> bool:
        """Release a job without a crash count; return False, without effect, if the lease was lost."""
        return bool(self._ask(self._jobs.release, job, job))

    def close(self) -> None:
        """Let `run` return once all requests so far are done."""
        self._requests.put(None)

    def run(self) -> None:
        """Execute requests and renew leases until `close`; the body of the thread."""
        closing, due = False, self._jobs.next_renewal()
        while not closing:
            batch = self._gather(due)
            closing = None in batch
            for do in (self._jobs.release, self._jobs.fail, self._jobs.commit, self._jobs.claim):
                if requests := [one for one in batch if one and one.do == do]:
                    self._together(requests)
            if time.monotonic() >= due:
                self._jobs.renew()
                due = self._jobs.next_renewal()

    def _ask(self, do: Callable[[Sequence[Any]], Mapping[Any, Any]], key: Any, content: Any) -> Any:
        request = WriteRequest(do, key, content)
        self._requests.put(request)
        return request.answer.result()

    def _gather(self, due: float) -> list[WriteRequest | None]:
        """Return the requests within GATHER_SECONDS of the first one; return early when a renewal is due."""
        batch: list[WriteRequest | None] = []
        give_up = due
        try:
            while True:
                batch.append(self._requests.get(timeout=max(0.0, give_up - time.monotonic())))
                give_up = min(give_up, time.monotonic() + GATHER_SECONDS) if len(batch) == 1 else give_up
        except Empty:
            return batch

    def _together(self, requests: Sequence[WriteRequest]) -> None:
        """Execute requests in one batch; if the store rejects it, one by one, so that only the faulty request fails."""
        contents = [one.content for one in requests]
        done = settle(Future[Mapping[Any, Any]](), retry_store, lambda: requests[0].do(contents), self._stop)
        error = done.exception()
        if error is None:
            answers = dict(done.result())
            for one in requests:
                one.answer.set_result(answers.pop(one.key, None))
        elif len(requests) == 1 or isinstance(error, StoreUnavailable):
            for one in requests:
                self._jobs.forget(one.key)
                one.answer.set_exception(error)
        else:
            for one in requests:
                self._together([one])
