"""Carry out a run on this machine: no broker, the same steps, the same store.

The parent is the only writer.  Scan jobs are decided in children of one slot each, which are
replaced one by one when they die, and what is known already needs none; plan and report jobs in
one thread of the parent.  What has been decided is kept until the store has taken it, however
long the store is away.
"""

import selectors
import socket
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from jarvis_workers.errors import JarvisError, StepFailed, StoreError, StoreFull, StoreUnavailable, UsageError
from jarvis_workers.local.agents import Talkers
from jarvis_workers.local.children import ChildSlot, JobOutcome, LocalChildren
from jarvis_workers.pipeline.controller import Controller, advance
from jarvis_workers.pipeline.runner import Loading, load, perform, recall, save
from jarvis_workers.pipeline.stages import CONTROL_QUEUE, has_talks
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import crash_attribution, events, jobs, runs, stages, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.queues import CONVERSATION_QUEUES
from jarvis_workers.store.runs import Run
from jarvis_workers.store.stages import StageProgress
from jarvis_workers.store.values import Claimed

if TYPE_CHECKING:
    from sqlmodel import Session

    from jarvis_workers.conversations.runtime import AgentRuntime

SCAN_QUEUE = "scan"
LEASE_MARGIN_SECONDS = 10
SHORTEST_WAIT_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How a command works: `processes` children, 0 for none; `patience_seconds` without a store before it gives up."""

    processes: int
    lease_seconds: float = 30.0
    tick_seconds: float = 2.0
    hard_limit_seconds: float = 300.0
    patience_seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class ExecutorContext:
    """What a command works on and with. `clock` is monotonic; `environ` is what children may see a part of.

    `talks` opens what conversations share, when a run has any.
    """

    store: Store
    resources: Resources
    where: Mapping[str, str]
    environ: Mapping[str, str]
    clock: Callable[[], float]
    errors: IO[bytes]
    tell: Callable[[str], None]
    show: Callable[[Run, list[StageProgress]], None] = field(default=lambda _run, _stages: None)
    talks: Callable[[], "AgentRuntime"] | None = None

    @property
    def blobs(self) -> Blobs:
        """The blobs among the resources."""
        return self.resources.blobs


class LocalExecutor:
    """Carries out the runs of one worker id, one at a time."""

    def __init__(self, world: ExecutorContext, limits: RunLimits, worker: workers.WorkerFacts) -> None:
        self.world, self.limits, self.worker = world, limits, worker
        self.store = world.store
        self.crew = LocalChildren(
            worker.id, limits.processes, where=world.where, environ=world.environ, errors=world.errors
        )
        self.controller = Controller(
            world.store,
            worker.id,
            lease_seconds=limits.lease_seconds,
            tick_seconds=limits.tick_seconds,
            monotonic=world.clock,
        )
        self._answers: list[JobOutcome] = []
        self._control: tuple[Claimed, Future[JobOutcome]] | None = None
        self._talkers: Talkers | None = None
        self._next_tick = 0.0
        self._hungry = True

    @property
    def executor(self) -> str:
        """The name under which runs are ours."""
        return f"local:{self.worker.id}"

    def carry_out(self, run_id: str) -> Run:
        """Work until the run has ended or is paused, and return it; interrupted, leave it paused.

        Raises StoreError when the store is full, or away for longer than we have patience.
        """
        self.store.lock_wait.end_startup()
        with self._open(), self._leave_resumable(run_id):
            if self.world.talks and has_talks(self._look(run_id).kind):
                self._talkers = Talkers(self.world.talks(), self.world.blobs, self._wake)
            away_since: float | None = None
            while True:
                try:
                    run = self._round(run_id)
                    away_since = None
                except StoreUnavailable as problem:
                    away_since = self._bear(problem, away_since)
                    continue
                if run.ended or run.state == "paused":
                    return run

    @contextmanager
    def _open(self) -> Iterator[None]:
        self._bell, self._ring = socket.socketpair()
        self._ring.setblocking(False)
        self.crew.selector.register(self._bell, selectors.EVENT_READ)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="control")
        try:
            yield
        finally:
            self.crew.dismiss()
            if self._talkers:
                self._talkers.close()
                self._talkers = None
            self._thread.shutdown(wait=True, cancel_futures=True)
            self.crew.selector.close()
            self._bell.close()
            self._ring.close()

    @contextmanager
    def _leave_resumable(self, run_id: str) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            # What strikes on the way out of a transaction leaves it open, and the store locked, while its frames last.
            traceback.clear_frames(error.__traceback__)
            why = "interrupted" if not isinstance(error, JarvisError) else str(error)
            with suppress(StoreError):
                self._stop_work(run_id, why)
            raise
        finally:
            with suppress(StoreError), self.store.write() as session:
                workers.leave(session, self.worker.id)
            with suppress(StoreError):
                self.controller.resign()

    def _wake(self) -> None:
        # A bell that takes no more has been rung.
        with suppress(BlockingIOError):
            self._ring.send(b"!")

    def _stop_work(self, run_id: str, why: str) -> None:
        self.crew.dismiss()
        if self._talkers:
            self._talkers.call_off()
        with self.store.write() as session:
            jobs.release_worker(session, self.worker.id)
            runs.pause(session, run_id, why, executor=self.executor)

    def _bear(self, problem: StoreUnavailable, since: float | None) -> float:
        """Wait a tick for the store to come back; raise `problem` when patience is at its end."""
        now = self.world.clock()
        if since is None:
            self.world.tell(f"{problem}; waiting up to {self.limits.patience_seconds:.0f} s")
        elif now - since > self.limits.patience_seconds:
            raise problem
        self._listen(self.limits.tick_seconds)
        self._next_tick = 0.0
        self._hungry = True
        return now if since is None else since

    def _round(self, run_id: str) -> Run:
        if self.world.clock() >= self._next_tick:
            self._tick(run_id)
        self._save(run_id)
        if self._hungry:
            self._fill()
        run = self._look(run_id)
        if run.executor != self.executor:
            raise UsageError(f"run {run_id} was taken over by another process; see: jarvis runs watch {run_id}")
        if run.ended or run.state == "paused":
            self._drop_work()
            return run
        if run.state == "cancelling":
            self._drop_work()
            self._advance(run_id)
            return self._look(run_id)
        rest = 0.0 if self._answers else self._next_tick - self.world.clock()
        self._listen(max(SHORTEST_WAIT_SECONDS, rest))
        return run

    def _tick(self, run_id: str) -> None:
        now = self.world.clock()
        self._listen(0)
        self._forgive_sleep(now)
        with self.store.write() as session:
            workers.touch(session, self.worker)
            jobs.release_strays(session, self.worker.id, self._held())
            if self._control:
                jobs.renew(session, [self._control[0]], self.limits.lease_seconds)
            if self._talkers and (talking := self._talkers.held):
                kept = jobs.renew(session, talking, self.limits.lease_seconds)
                self._talkers.drop(job for job in talking if job.id not in kept)
        self.controller.tick()
        self._enforce_limit(now)
        with self.store.read() as session:
            run, progress = runs.get(session, run_id), stages.progress(session, run_id)
        if run:
            self.world.show(run, progress)
        self._hungry = True
        self._next_tick = self.world.clock() + self.limits.tick_seconds

    def _held(self) -> set[int]:
        held = {job.id for _, job in self.crew.busy} | {answer.job.id for answer in self._answers}
        held |= {job.id for job in self._talkers.held} if self._talkers else set()
        return held | ({self._control[0].id} if self._control else set())

    def _forgive_sleep(self, now: float) -> None:
        """After a suspension the children's time starts anew: nobody was too slow."""
        late = now - self._next_tick
        if self._next_tick and late > self.limits.lease_seconds / 3:
            for seat, _ in self.crew.busy:
                seat.since += late

    def _enforce_limit(self, now: float) -> None:
        limit = self.limits.hard_limit_seconds
        for seat, _ in self.crew.busy:
            if now - seat.since > limit:
                self._note(self.crew.kill(seat, f"exceeded the hard limit of {limit:g} s"))

    def _note(self, answer: JobOutcome | None) -> None:
        if answer:
            self._answers.append(answer)

    def _fill(self) -> None:
        """Claim a job for every idle seat and for the thread, and hand them out."""
        with self.store.write() as session:
            given = list(self._claims(session))
            control = None if self._control else self._claim(session, CONTROL_QUEUE, self.worker.id)
            talking = list(self._conversations(session, self._talkers.free)) if self._talkers else []
        self._hungry = False
        if control:
            future = self._thread.submit(self._do, control)
            self._control = (control, future)
            future.add_done_callback(lambda _: self._wake())
        self._talk(talking)
        for seat, job in given:
            module, work = load(self.store, job)
            commit = recall(module, work, self.world.resources)
            if commit:
                self._note(JobOutcome(job, seat.process, commit=commit))
                continue
            request = {"module": module, "work": work}
            self._note(self.crew.give(seat, job, request, self.world.clock()))

    def _talk(self, given: Sequence[Claimed]) -> None:
        """Begin conversations; what one lacks to begin is recorded on its row."""
        if not given:
            return
        with self.store.read() as session:
            loading = Loading(session)
            for job in given:
                assert self._talkers is not None
                try:
                    self._talkers.start(job, *loading.load(job))
                except StepFailed as error:
                    self._note(JobOutcome(job, error=str(error)))

    def _claims(self, session: "Session") -> Iterator[tuple[ChildSlot, Claimed]]:
        for seat in self.crew.idle:
            job = self._claim(session, SCAN_QUEUE, seat.process)
            if job is None:
                return
            yield seat, job

    def _conversations(self, session: "Session", free: int) -> Iterator[Claimed]:
        for queue in CONVERSATION_QUEUES:
            claimed = self._claim_many(session, queue, free)
            free -= len(claimed)
            yield from claimed

    def _claim(self, session: "Session", queue: str, process: str) -> Claimed | None:
        claimed = self._claim_many(session, queue, 1, process)
        return claimed[0] if claimed else None

    def _claim_many(self, session: "Session", queue: str, limit: int, process: str | None = None) -> list[Claimed]:
        scan_lease = self.limits.hard_limit_seconds + LEASE_MARGIN_SECONDS
        return jobs.claim_many(
            session,
            executor=self.executor,
            queue=queue,
            worker_id=self.worker.id,
            process=process or self.worker.id,
            limit=limit,
            lease_seconds=scan_lease if queue == SCAN_QUEUE else self.limits.lease_seconds,
        )

    def _do(self, job: Claimed) -> JobOutcome:
        """Do a control job in the thread. A task boundary: its error is recorded on the job's row."""
        try:
            return JobOutcome(job, commit=perform(self.store, self.world.resources, job))
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001  (the task boundary)
            return JobOutcome(job, error=f"{type(error).__name__}: {error}")

    def _listen(self, seconds: float) -> None:
        for key, _ in self.crew.selector.select(seconds):
            if key.fileobj is self._bell:
                self._bell.recv(64)
            else:
                self._answers += self.crew.hear(key.data)

    def _save(self, run_id: str) -> None:
        """Save what has been answered; on a StoreError everything not yet saved is kept."""
        if self._control and self._control[1].done():
            future = self._control[1]
            self._control = None
            self._answers.append(future.result())
        if self._talkers:
            self._answers += self._talkers.take()
        if not self._answers:
            return
        given_back = [answer.job for answer in self._answers if answer.given_back]
        commits = [(answer.job, answer.commit) for answer in self._answers if answer.commit]
        if commits:
            save(self.store, self.world.blobs, commits)
        with self.store.write() as session:
            jobs.release(session, given_back)
            for answer in self._answers:
                self._blame(session, answer)
        full = next((answer.full for answer in self._answers if answer.full), None)
        self._answers.clear()
        if full:
            raise StoreFull(full)
        self._advance(run_id)
        self._hungry = True

    def _blame(self, session: "Session", answer: JobOutcome) -> None:
        if answer.error:
            jobs.fail_attempt(session, answer.job, answer.error)
        elif answer.death:
            taken = crash_attribution.crash_process(session, answer.process, answer.death)
            for run_id, stage, lost in crash_attribution.by_stage(taken):
                events.record(session, run_id, "crashed", stage, jobs=lost, how=answer.death)

    def _advance(self, run_id: str) -> None:
        with self.store.write() as session:
            advance(session, run_id)

    def _look(self, run_id: str) -> Run:
        with self.store.read() as session:
            run = runs.get(session, run_id)
        if run is None:
            raise StoreError(f"run {run_id} was removed while it was running")
        return run

    def _drop_work(self) -> None:
        self._control = None
        self._answers.clear()
        if self.crew.busy:
            self.crew.dismiss()
        if self._talkers:
            self._talkers.call_off()
        with self.store.write() as session:
            jobs.release_worker(session, self.worker.id)
