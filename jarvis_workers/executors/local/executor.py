"""The local executor: executes runs on this machine, without a broker, with the same steps and store as a cluster.

The parent is the only writer.  Scan and build jobs run in child processes, unless their results are cached; plan
and report jobs run in one thread of the parent.  A child that dies is replaced.  During an outage of the store,
outcomes remain in memory until they are saved.
"""

import traceback
from contextlib import suppress
from types import TracebackType

from jarvis_workers.errors import JarvisError, StoreError, StoreUnavailable, UsageError
from jarvis_workers.executors.local.context import ExecutorContext, RunLimits
from jarvis_workers.executors.local.outcomes import save_outcomes
from jarvis_workers.executors.local.pools import LocalPools
from jarvis_workers.pipeline.attempt import OUTAGES, Released
from jarvis_workers.pipeline.controller import Controller, advance
from jarvis_workers.pipeline.outage import Outage, OutageLimits
from jarvis_workers.pipeline.stages import has_conversation_stage
from jarvis_workers.store import jobs, runs, stages, workers
from jarvis_workers.store.values import Run, WorkerFacts

SHORTEST_WAIT_SECONDS = 0.01
# A limit of a user's shell does not pass by itself, unlike an outage of a server.
HOST_PATIENCE_SECONDS = 60.0


class LocalExecutor:
    """Executes the runs of one worker id, one at a time; `executed` are their ids."""

    def __init__(self, world: ExecutorContext, limits: RunLimits, worker: WorkerFacts) -> None:
        self.world, self.limits, self.worker = world, limits, worker
        self.store = world.store
        self.controller = Controller(
            world.store,
            worker.id,
            lease_seconds=limits.lease_seconds,
            tick_seconds=limits.tick_seconds,
            monotonic=world.clock,
        )
        self.executed: set[str] = set()
        self._pools = LocalPools(world, limits, worker.id)
        patience = OutageLimits(blobs=limits.patience_seconds, host=HOST_PATIENCE_SECONDS, full=0.0)
        self._outage = Outage(world.tell, patience, clock=world.clock)
        self._next_tick = 0.0
        self._may_claim = True

    @property
    def executor(self) -> str:
        """The executor name of runs that this process executes."""
        return f"local:{self.worker.id}"

    def carry_out(self, run_id: str) -> Run:
        """Execute a run until it has ended or is paused, and return it; an interruption pauses it.

        Raises StoreError if the store is full, or unavailable for longer than `patience_seconds`.
        """
        self.store.lock_wait.end_startup()
        self.executed.add(run_id)
        with self._pools.open(), _Cleanup(self, run_id):
            if has_conversation_stage(self._look(run_id).kind):
                self._pools.open_agents()
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

    def stop(self, run_id: str, pause: str | None = None) -> None:
        """Stop and release all jobs; pause the run if `pause` gives a reason. Raises StoreError."""
        self._pools.stop()
        with self.store.write() as session:
            jobs.release_worker(session, self.worker.id)
            if pause is not None:
                runs.pause(session, run_id, pause, executor=self.executor)

    def _bear(self, problem: StoreUnavailable, since: float | None) -> float:
        """Wait a tick for an unavailable store; return the start of the outage.

        Raises `problem` after `patience_seconds`.
        """
        now = self.world.clock()
        if since is None:
            self.world.tell(f"{problem}; waiting up to {self.limits.patience_seconds:.0f} s")
        elif now - since > self.limits.patience_seconds:
            raise problem
        self._pools.listen(self.limits.tick_seconds)
        self._next_tick = 0.0
        self._may_claim = True
        return now if since is None else since

    def _round(self, run_id: str) -> Run:
        if self.world.clock() >= self._next_tick:
            self._tick(run_id)
        self._save(run_id)
        if self._may_claim:
            self._fill()
        run = self._look(run_id)
        if run.executor != self.executor:
            raise UsageError(f"run {run_id} was taken over by another process", f"see: jarvis runs watch {run_id}")
        if run.ended or run.state == "paused":
            self.stop(run_id)
            return run
        if run.state == "cancelling":
            self.stop(run_id)
            self._advance(run_id)
            return self._look(run_id)
        rest = 0.0 if self._pools.has_outcomes else self._next_tick - self.world.clock()
        self._pools.listen(max(SHORTEST_WAIT_SECONDS, rest))
        return run

    def _tick(self, run_id: str) -> None:
        now = self.world.clock()
        self._pools.listen(0)
        late = now - self._next_tick
        if self._next_tick and late > self.limits.lease_seconds / 3:
            self._pools.allow_for_sleep(late)
        with self.store.write() as session:
            workers.touch(session, self.worker)
            jobs.release_strays(session, self.worker.id, self._pools.running_ids)
            self._pools.renew(session)
        self.controller.tick()
        self._pools.enforce_limit(now)
        with self.store.read() as session:
            run, progress = runs.get(session, run_id), stages.progress(session, run_id)
        if run:
            self.world.show(run, progress)
        self._may_claim = True
        self._next_tick = self.world.clock() + self.limits.tick_seconds

    def _fill(self) -> None:
        """Claim jobs for idle children, the control thread and conversations, and start them."""
        with self.store.write() as session:
            claims = self._pools.claim(session, self.executor)
        self._may_claim = False
        self._pools.start(claims)

    def _save(self, run_id: str) -> None:
        """Save the collected outcomes; after a StoreError, they are kept for the next attempt."""
        outcomes = self._pools.outcomes()
        if not outcomes:
            return
        judged = [one._replace(outcome=self._outage.judge(one.job, one.outcome)) for one in outcomes]
        save_outcomes(self.store, self.world.blobs, judged)
        outcomes.clear()
        self._advance(run_id)
        # After an outage, jobs are claimed again at the next tick.
        released = [one.outcome.error for one in judged if isinstance(one.outcome, Released)]
        self._may_claim = not any(isinstance(error, OUTAGES) for error in released)

    def _advance(self, run_id: str) -> None:
        with self.store.write() as session:
            advance(session, run_id)

    def _look(self, run_id: str) -> Run:
        with self.store.read() as session:
            run = runs.get(session, run_id)
        if run is None:
            raise StoreError(f"run {run_id} was removed while it was running")
        return run


class _Cleanup:
    """The clean-up after a run: pause it after an error or Ctrl-C, then remove the worker and resign as controller."""

    def __init__(self, local: LocalExecutor, run_id: str) -> None:
        self._local, self._run_id = local, run_id

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        local = self._local
        try:
            if error is not None:
                # An exception while a transaction ends leaves it open: its traceback frames keep the store locked.
                traceback.clear_frames(at)
                why = str(error) if isinstance(error, JarvisError) else "interrupted"
                with suppress(StoreError):
                    local.stop(self._run_id, pause=why)
        finally:
            with suppress(StoreError), local.store.write() as session:
                workers.leave(session, local.worker.id)
            with suppress(StoreError):
                local.controller.resign()
