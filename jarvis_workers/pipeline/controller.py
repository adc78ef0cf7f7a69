"""The run controller: an elected loop that closes stages, plans the next ones, and recovers lost jobs.

Any process may call `advance` for a run at any time: a compare-and-set closes a stage in one transaction with the
plan job of the next.  Only the elected controller expires leases.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers import telemetry
from jarvis_workers.pipeline.run_state import NOT_CHECKED, final_state
from jarvis_workers.pipeline.stages import (
    CONTROL_QUEUE,
    PLAN,
    has_pipeline,
    hook_of,
    missing_stage,
    opened_with,
    stage_of,
)
from jarvis_workers.store import crash_attribution, events, jobs, leases, runs, stages, workers
from jarvis_workers.store.sql import stop_clock
from jarvis_workers.store.values import NewJob, Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from jarvis_workers.store.engine import Store
    from jarvis_workers.store.session import Session

ELECTION = "controller"
# A difference between two clocks that is not a step: they are disciplined, at most 500 ppm.
LEAST_STEP_SECONDS = 1.0


def plan_job(stage: str) -> NewJob:
    """Return the job that plans a stage."""
    return NewJob(step=PLAN, queue=CONTROL_QUEUE, label=f"plan {stage}", input_hash=PLAN)


def advance(session: Session, run_id: str) -> None:
    """Close the current stage of a run if it has no open jobs, then open the next stage or end the run."""
    run = runs.lock(session, run_id)
    if run is None or run.state not in ("planning", "running", "cancelling"):
        return
    if not has_pipeline(run.kind):
        # A process with the package of this pipeline advances the run.
        return
    if run.state == "cancelling":
        _end_cancelled(session, run_id)
        return
    stage = stages.current(session, run_id)
    if stage is None or stages.has_open_jobs(session, run_id, stage):
        return
    if missing_stage(run.kind, stages.names(session, run_id)):
        # A process of the version that began the run advances it.
        return
    if reason := stages.failed_plan(session, run_id, stage):
        runs.finish(session, run_id, "failed", f"could not plan {stage}: {reason}")
    elif stages.close(session, run_id, stage):
        _go_on(session, run, stage)


def _end_cancelled(session: Session, run_id: str) -> None:
    runs.cancel_waiting(session, run_id)
    if not stages.open_jobs(session, run_id):
        runs.finish(session, run_id, "cancelled")


def _go_on(session: Session, run: Run, stage: str) -> None:
    events.record(session, run.id, "closed", stage)
    following = stages.following(session, run.id, stage)
    if following is None:
        runs.finish(session, run.id, *_end_state(session, run))
    elif stage_of(run.kind, following).streamed:
        # The jobs of a streamed stage were inserted by the stage that has just closed; all of them may be done already.
        advance(session, run.id)
    else:
        _open(session, run, following)


def _open(session: Session, run: Run, stage: str) -> None:
    if hook := stage_of(run.kind, stage).on_open:
        hook_of(hook)(session, run)
    for name in opened_with(run.kind, stage):
        stages.opened(session, run.id, name)
    jobs.insert_jobs(session, run.id, stage, [plan_job(stage)])


def _end_state(session: Session, run: Run) -> tuple[str, str | None]:
    progress = stages.progress(session, run.id)
    last = progress[-1].name
    if progress[-1].failed:
        why = f"the {last} stage failed: {stages.failure(session, run.id, last)}"
        return stage_of(run.kind, last).state_if_failed, why
    snapshot = runs.snapshot(session, run.snapshot_id)
    missing = Counter({NOT_CHECKED: snapshot.not_checked if snapshot else 0})
    for stage in progress:
        missing[stage_of(run.kind, stage.name).missing] += stage.not_checked
    return final_state(failed=sum(stage.failed for stage in progress), missing=missing)


class Clocks(NamedTuple):
    """The clock of the database, and that of this machine `before` and `after` it was read."""

    before: float
    database: float
    after: float

    def step_since(self, earlier: Clocks) -> float:
        """Return by how much the database's clock was set forward (or back, if negative); 0 if it cannot be told."""
        passed = self.database - earlier.database
        least, most = self.before - earlier.after, self.after - earlier.before
        step = passed - most if passed > most else min(0.0, passed - least)
        return step if abs(step) > LEAST_STEP_SECONDS else 0.0


class Controller:
    """The controller of a process; at most one controller per store is elected at a time.

    A controller detects its own suspension, elected or not, with two clocks: this machine's `monotonic` clock, which
    may stop during a suspension, and the clock of the database, by which leases expire. An interval between two ticks
    counts for at most a third of a lease; all leases are extended by the excess, so that no job is treated as crashed
    for a time in which no heartbeat could be recorded. A new controller also adds the time since the last election
    expired, since the database may have been unavailable. The same holds after the clock of the database was set
    forward; one that was set back is in `clock_steps`.
    """

    def __init__(
        self, store: Store, holder: str, *, lease_seconds: float, tick_seconds: float, monotonic: Callable[[], float]
    ) -> None:
        self.store = store
        self.holder = holder
        self.lease_seconds = lease_seconds
        self.election_seconds = max(3 * tick_seconds, lease_seconds / 3)
        self.monotonic = monotonic
        self.last_good: Clocks | None = None
        self._was_elected = False

    def tick(self) -> bool:
        """Run one iteration if elected; return False if another controller is elected. Raises StoreError."""
        with self.store.read() as session:
            self.last_good = self.last_good or self._first_clocks(session)
            free = leases.is_free(session, ELECTION, self.holder)
        if not free or not self._elected():
            self.last_good, self._was_elected = self._clocks(), False
            return False
        self.last_good, self._was_elected = self._recover(self.last_good), True
        with self.store.read() as session:
            unfinished = runs.unfinished(session)
        for run_id in unfinished:
            with self.store.write() as session:
                advance(session, run_id)
        return True

    def resign(self) -> None:
        """Release the election lease, so that another controller can be elected at once."""
        with self.store.write() as session:
            leases.release(session, ELECTION, self.holder)

    def _elected(self) -> bool:
        with self.store.write() as session:
            return leases.take(session, ELECTION, self.holder, self.election_seconds)

    def _clocks(self) -> Clocks:
        return Clocks(self.monotonic(), self.store.now(), self.monotonic())

    def _first_clocks(self, session: Session) -> Clocks:
        """Return the clocks at the end of the last election, as if the last tick had been then."""
        machine, database = self.monotonic(), stop_clock(session)
        quiet = leases.overdue(session, ELECTION) + self.lease_seconds / 3
        return Clocks(machine - quiet, database - quiet, machine - quiet)

    def _recover(self, last_good: Clocks) -> Clocks:
        """Recover lost jobs; return the time of it."""
        with self.store.write() as session:
            # A step of the clock between two statements would otherwise look like a crash of everything.
            clocks = Clocks(self.monotonic(), stop_clock(session), self.monotonic())
            gap = max(clocks.after - last_good.before, clocks.database - last_good.database)
            if (slept := gap - self.lease_seconds / 3) > 0.0:
                jobs.extend_all(session, slept, self.lease_seconds)
                workers.excuse_all(session, slept)
            if step := clocks.step_since(last_good) if self._was_elected else 0.0:
                runs.record(session, step)
            runs.bound(session)
            late, orphans = (
                crash_attribution.recover(session),
                crash_attribution.recover_dead_workers(session, self.lease_seconds),
            )
            for run_id, stage, lost in crash_attribution.by_stage(late + orphans):
                events.record(session, run_id, "recovered", stage, jobs=lost)
        if step:
            telemetry.warning("clock stepped", seconds=step)
        for why, recovered in (("its lease expired", late), ("its worker disappeared", orphans)):
            for job in recovered:
                telemetry.warning(
                    "recovered", **telemetry.about(job), process=job.process, given_up=job.given_up, why=why
                )
        return clocks
