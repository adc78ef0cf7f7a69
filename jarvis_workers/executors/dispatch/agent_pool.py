"""The agent pool: each conversation is a coroutine of one event loop, and a Celery task whose thread waits for it.

The threads are cheap, and make each conversation visible in Flower. SIGTERM cancels the conversations, which releases
their jobs without a crash count. A job runs as long as its lease is renewed, and at most `deadline_seconds`.
"""

import os
import resource
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from jarvis_workers.agents.conversations.event_loop import ConversationLoop
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.errors import StoreError
from jarvis_workers.executors.dispatch import job_log
from jarvis_workers.executors.dispatch.job_task import execute
from jarvis_workers.executors.dispatch.leased_jobs import Holder
from jarvis_workers.executors.dispatch.routing import AGENT_CONNECTIONS, CONVERSATION_CONNECTIONS
from jarvis_workers.executors.dispatch.store_writer import JobWriter
from jarvis_workers.pipeline.outage import Outage
from jarvis_workers.pipeline.runner import load, save_large_parts
from jarvis_workers.pipeline.stages import step_of
from jarvis_workers.pipeline.store_retry import retry_store
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Commit

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
