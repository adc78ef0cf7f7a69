"""The agent pool: each conversation is a coroutine of one event loop, and a Celery task whose thread waits for it.

The threads are cheap, and make each conversation visible in Flower. SIGTERM cancels the conversations, which releases
their jobs without a crash count. A job runs as long as its lease is renewed, and at most `deadline_seconds`.
"""

import os
import resource
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from jarvis_workers.agents.conversations.event_loop import ConversationLoop
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.errors import StoreError, StoreUnavailable
from jarvis_workers.executors.dispatch import job_log
from jarvis_workers.executors.dispatch.job_task import execute
from jarvis_workers.executors.dispatch.leased_jobs import Holder, LeasedJobs
from jarvis_workers.executors.dispatch.routing import AGENT_CONNECTIONS, CONVERSATION_CONNECTIONS
from jarvis_workers.futures import settle
from jarvis_workers.pipeline.outage import Outage
from jarvis_workers.pipeline.runner import load, save_large_parts
from jarvis_workers.pipeline.stages import step_of
from jarvis_workers.pipeline.store_retry import retry_store
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Commit, Finished

# The store writer: one thread batches the claims, renewals and commits of all conversations of a process.

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


STACK_BYTES = 512 << 10
OPEN_FILES = 65536
# The writer and the shutdown thread have one connection each.
AT_THE_STORE = AGENT_CONNECTIONS - CONVERSATION_CONNECTIONS - 2
LAST_SECONDS = 2.0
BROKEN = 70

T = TypeVar("T")


class Agents:
    """Executes jobs in an agent process (`job_task.JobHost`): an event loop, a store writer, and a shutdown thread."""

    def __init__(
        self,
        worker_id: str,
        world: tuple[Store, Resources, Callable[[], None]],
        runtime: AgentRuntime,
        *,
        lease_seconds: float,
        deadline_seconds: float,
    ) -> None:
        self.store, resources, self.notify = world
        self.blobs = resources.blobs
        self.runtime, self.observer = runtime, runtime.setup.observer
        self._stop, self._ended = threading.Event(), threading.Event()
        self.process = f"{worker_id}/{os.getpid()}"
        holder = Holder(worker_id, self.process, lease_seconds)
        self._loop = ConversationLoop(deadline_seconds)
        self._writer = JobWriter(self.store, holder, self._loop.cancel, self._stop)
        self.outage = Outage(job_log.outage)
        self._at_the_store = threading.BoundedSemaphore(AT_THE_STORE)
        self._threads = [vital(self._loop.run), vital(self._writer.run), vital(self._end_in_time)]

    def do(self, job_id: int) -> None:
        """Execute the job that a message names."""
        execute(self, job_id)

    def claim(self, job_id: int) -> Claimed | None:
        return self._writer.claim(job_id)

    def decide(self, job: Claimed) -> Commit:
        module, work = self.reach(lambda store: load(store, job))
        return self._loop.start(job, partial(step_of(module).converse, work, self.blobs, self.runtime)).result()

    def save(self, job: Claimed, commit: Commit) -> bool:
        return self._writer.commit(self.reach(lambda store: save_large_parts(store, self.blobs, [(job, commit)])[0]))

    def fail(self, job: Claimed, reason: str) -> bool:
        return self._writer.fail(job, reason)

    def release(self, job: Claimed) -> bool:
        return self._writer.release(job)

    def pause(self, error: Exception) -> None:
        self.outage.pause(error, self.blobs.responds, self._stop)

    def call_off(self) -> None:
        """Cancel all conversations and reject new ones. Safe in a signal handler."""
        self._stop.set()

    def close(self) -> None:
        """Write the pending requests and end the threads."""
        self._writer.close()
        self._loop.stop()
        self._ended.set()
        self._stop.set()
        for thread in self._threads:
            thread.join(LAST_SECONDS)

    def _end_in_time(self) -> None:
        """After `call_off`, cancel all conversations; end the process if it has not stopped after LAST_SECONDS."""
        self._stop.wait()
        if self._ended.is_set():
            return
        self.store.deadline.shorten(LAST_SECONDS)
        self._loop.cancel_all()
        if not self._ended.wait(LAST_SECONDS):
            claims = self._writer.claims
            with suppress(StoreError):
                with self.store.write() as session:
                    back = jobs.release(session, claims)
                for job in claims:
                    job_log.released(job, accepted=job.id in back)
            os._exit(0)

    def reach(self, change: Callable[[Store], T]) -> T:
        """Run a store operation; a semaphore limits concurrent ones, so that none times out in the connection pool."""
        with self._at_the_store:
            return retry_store(lambda: change(self.store), self._stop)


def make_room() -> None:
    """Set stack size and file limit for hundreds of threads and connections; must be called before threads start."""
    threading.stack_size(STACK_BYTES)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = OPEN_FILES if most == resource.RLIM_INFINITY else min(OPEN_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))


def vital(do: Callable[[], Any]) -> threading.Thread:
    """Start a thread that the process cannot work without: an exception in it ends the process."""

    def run() -> None:
        whole = False
        try:
            do()
            whole = True
        finally:
            if not whole:
                traceback.print_exc()
                os._exit(BROKEN)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread
