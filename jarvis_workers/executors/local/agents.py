"""The conversations of a local executor, in an event loop in a separate thread; the executor polls their outcomes."""

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from typing import Any

from jarvis_workers.agents.conversations.event_loop import ConversationLoop
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.executors.local.outcomes import JobOutcome
from jarvis_workers.pipeline.attempt import attempt
from jarvis_workers.pipeline.stages import step_of
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.queues import QUEUES
from jarvis_workers.store.values import Claimed, Commit

DEADLINE_SECONDS = 3600.0
LAST_SECONDS = 5.0


class ConversationThread:
    """Runs as many conversations per queue as it has slots; `wake` is called from any thread when one has ended."""

    def __init__(self, runtime: AgentRuntime, blobs: Blobs, wake: Callable[[], None]) -> None:
        self._runtime, self._blobs, self._wake = runtime, blobs, wake
        self._loop = ConversationLoop(DEADLINE_SECONDS)
        self._on: dict[Claimed, Future[Commit]] = {}
        self._thread = threading.Thread(target=self._loop.run, name="conversations", daemon=True)
        self._thread.start()

    @property
    def claims(self) -> list[Claimed]:
        """The jobs whose conversations are running, or whose outcomes have not been collected."""
        return list(self._on)

    def free(self, queue: str) -> int:
        """Return the number of further conversations of a queue that may start."""
        return QUEUES[queue].slot_count(os.cpu_count() or 1) - sum(job.queue == queue for job in self._on)

    def start(self, job: Claimed, module: str, work: Any) -> None:
        """Start the conversation of a job."""
        future = self._loop.start(job, partial(step_of(module).converse, work, self._blobs, self._runtime))
        self._on[job] = future
        future.add_done_callback(lambda _: self._wake())

    def take(self) -> list[JobOutcome]:
        """Return the outcomes of the conversations that have ended since the last call."""
        over = [job for job, future in self._on.items() if future.done()]
        return [JobOutcome(job, attempt(self._on.pop(job).result)) for job in over]

    def drop(self, lost: Iterable[Claimed]) -> None:
        """Cancel the conversations of jobs whose leases are lost."""
        for job in lost:
            self._loop.cancel(job)
            self._on.pop(job, None)

    def call_off(self) -> None:
        """Cancel all conversations and drop their outcomes."""
        self.drop(self.claims)

    def close(self) -> None:
        """Cancel all conversations and end the threads."""
        self._loop.cancel_all()
        self._loop.stop()
        self._thread.join(LAST_SECONDS)
        self._runtime.close()
