"""The pools of a local executor: children (scan, build), a thread for control jobs, an event loop for conversations.

With 0 processes, `start` executes jobs without conversations in the main thread, for debuggers and tests. Then jobs
are not isolated: one that crashes or hangs takes the command with it, and no lease is renewed while a job is executed.
"""

import os
import selectors
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from jarvis_workers.agents.conversations.event_loop import ConversationLoop
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.errors import StepFailed
from jarvis_workers.executors.local.children import ChildSlot, LocalChildren
from jarvis_workers.executors.local.context import BUILD_QUEUE, ExecutorContext, RunLimits
from jarvis_workers.executors.local.outcomes import ControlThread, JobOutcome
from jarvis_workers.pipeline.attempt import Done, Failed, attempt, attempt_without_store
from jarvis_workers.pipeline.runner import Loading, load, recall
from jarvis_workers.pipeline.stages import CONTROL_QUEUE, step_of
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs
from jarvis_workers.store.queues import CONVERSATION_QUEUES, QUEUES
from jarvis_workers.store.values import Claimed, Commit
from jarvis_workers.toolchain.limits import cpu_seconds

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


# The conversations of a local executor, in an event loop in a separate thread; the executor polls their outcomes.

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


CHILD_QUEUES = ("scan", BUILD_QUEUE)
LEASE_MARGIN_SECONDS = 10


class Claims(NamedTuple):
    """Jobs that were claimed in one transaction; those for children are paired with their slots."""

    children: list[tuple[ChildSlot, Claimed]]
    control: list[Claimed]
    conversations: list[Claimed]


class LocalPools:
    """Claims jobs for one worker id, executes them, and collects their outcomes."""

    def __init__(self, world: ExecutorContext, limits: RunLimits, worker_id: str) -> None:
        self._world, self._limits, self._worker_id = world, limits, worker_id
        self._children = LocalChildren(
            worker_id, max(1, limits.processes), where=world.where, environ=world.environ, errors=world.errors
        )
        self._agents: ConversationThread | None = None
        self._outcomes: list[JobOutcome] = []

    @contextmanager
    def open(self) -> Iterator[None]:
        """Start the control thread; at the end, stop all pools."""
        self._bell, self._ring = socket.socketpair()
        self._ring.setblocking(False)
        self._children.selector.register(self._bell, selectors.EVENT_READ)
        self._control = ControlThread(
            self._world.store, self._world.resources, self._wake, inline=self._limits.processes == 0
        )
        try:
            yield
        finally:
            self._children.dismiss()
            if self._agents:
                self._agents.close()
                self._agents = None
            self._control.close()
            self._children.selector.close()
            self._bell.close()
            self._ring.close()

    def open_agents(self) -> None:
        """Enable conversations, if the context has an agent runtime."""
        if self._world.runtime:
            self._agents = ConversationThread(self._world.runtime(), self._world.blobs, self._wake)

    @property
    def running_ids(self) -> set[int]:
        """The ids of the jobs that are running, or whose outcomes have not been saved."""
        jobs = [job for _, job in self._children.busy] + [one.job for one in self._outcomes] + self._control.claims
        return {job.id for job in jobs + (self._agents.claims if self._agents else [])}

    @property
    def has_outcomes(self) -> bool:
        """Whether there are outcomes to save."""
        return bool(self._outcomes)

    def claim(self, session: "Session", executor: str) -> Claims:
        """Claim a job for each idle child and the control thread, and conversations up to their limit."""

        def claim(queue: str, limit: int, process: str) -> list[Claimed]:
            hard_limit = self._limits.job_seconds(queue) + LEASE_MARGIN_SECONDS
            return jobs.claim_many(
                session,
                executor=executor,
                queue=queue,
                worker_id=self._worker_id,
                process=process,
                limit=limit,
                lease_seconds=hard_limit if queue in CHILD_QUEUES else self._limits.lease_seconds,
            )

        claims = Claims([], [], [])
        for slot in self._children.idle:
            job = next((job for queue in CHILD_QUEUES for job in claim(queue, 1, slot.process)), None)
            if job is None:
                break
            claims.children.append((slot, job))
        if not self._control.claims:
            claims.control.extend(claim(CONTROL_QUEUE, 1, self._worker_id))
        if self._agents:
            for queue in CONVERSATION_QUEUES:
                claims.conversations.extend(claim(queue, self._agents.free(queue), self._worker_id))
        return claims

    def start(self, claims: Claims) -> None:
        """Start the claimed jobs; cached scan results become outcomes at once."""
        for job in claims.control:
            self._control.start(job)
        self._converse(claims.conversations)
        for slot, job in claims.children:
            module, work = load(self._world.store, job)
            if commit := recall(module, work, self._world.resources):
                self._outcomes.append(JobOutcome(job, Done(commit), slot.process))
            elif self._limits.processes:
                request = {"module": module, "work": work}
                self._outcomes += self._children.give(slot, job, request, self._world.clock())
            else:
                self._outcomes.append(_decide_inline(job, module, work, self._world.resources))

    def _converse(self, claims: Sequence[Claimed]) -> None:
        """Start conversations; one whose input cannot be loaded becomes a failed attempt."""
        if not claims or not self._agents:
            return
        with self._world.store.read() as session:
            loading = Loading(session)
            for job in claims:
                try:
                    self._agents.start(job, *loading.load(job))
                except StepFailed as error:
                    self._outcomes.append(JobOutcome(job, Failed(str(error))))

    def renew(self, session: "Session") -> None:
        """Extend leases and cancel conversations whose leases are lost; leases in children cover the hard limit."""
        jobs.renew(session, self._control.claims, self._limits.lease_seconds)
        if self._agents and (claims := self._agents.claims):
            renewed = jobs.renew(session, claims, self._limits.lease_seconds)
            self._agents.drop(job for job in claims if job.id not in renewed)

    def allow_for_sleep(self, seconds: float) -> None:
        """Extend the time limits of running children after a suspension of the machine."""
        for slot, _ in self._children.busy:
            slot.since += seconds

    def enforce_limit(self, now: float) -> None:
        """Kill children whose job has exceeded the hard time limit."""
        for slot, job in self._children.busy:
            limit = self._limits.job_seconds(job.queue)
            if now - slot.since > limit:
                self._outcomes += self._children.kill(slot, f"exceeded the hard limit of {limit:g} s")

    def listen(self, seconds: float) -> None:
        """Wait for the end of a job, for at most `seconds`."""
        for key, _ in self._children.selector.select(seconds):
            if key.fileobj is self._bell:
                self._bell.recv(64)
            else:
                self._outcomes += self._children.hear(key.data)

    def outcomes(self) -> list[JobOutcome]:
        """Return the list of outcomes, which the caller clears after saving. Raises the StoreError of a control job."""
        self._outcomes += self._control.take()
        if self._agents:
            self._outcomes += self._agents.take()
        return self._outcomes

    def stop(self) -> None:
        """Stop all jobs and drop their outcomes; a control job continues, but its outcome is ignored."""
        self._control.forget()
        self._outcomes.clear()
        self._children.dismiss()
        if self._agents:
            self._agents.call_off()

    def _wake(self) -> None:
        # A full socket buffer wakes the main thread anyway.
        with suppress(BlockingIOError):
            self._ring.send(b"!")


def _decide_inline(job: Claimed, module: str, work: object, resources: Resources) -> JobOutcome:
    before = cpu_seconds()
    outcome = attempt_without_store(lambda: step_of(module).decide(work, resources))
    if isinstance(outcome, Done):
        outcome = Done(outcome.commit._replace(cpu_seconds=cpu_seconds() - before))
    return JobOutcome(job, outcome)
