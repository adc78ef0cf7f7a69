"""Operations on runs: find, cancel, resume, retry, wait, prune."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.errors import StoreUnavailable, UsageError
from jarvis_workers.models.ratelimit.budget import RunBudget
from jarvis_workers.paths import plain
from jarvis_workers.pipeline.controller import advance
from jarvis_workers.pipeline.options import RunOptions
from jarvis_workers.pipeline.stages import has_pipeline, missing_stage
from jarvis_workers.runs.budgets import check_budget_left
from jarvis_workers.runs.health.process_identity import has_ended
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.prune import Pruned
from jarvis_workers.snapshots.prune import prune as prune_blobs
from jarvis_workers.store import artifacts, budgets, jobs, run_labels, runs, stages, transcripts, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import PARTIAL_KINDS, Run, StageProgress

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

LOCAL = "local:"
RUN_ID = re.compile(r"[A-Za-z0-9_-]{1,32}")
LABEL_MAX = 60
PATIENCE_SECONDS = 600.0
# Ages for deletion are days.
DISAGREEMENT_SECONDS = 3600.0
AGENT_SCAN = "sec.agent"
SEE_LIST = "see: jarvis runs list"
BLOB_GRACE_SECONDS = 24 * 3600.0


class RunNotFound(UsageError):
    """The results store has no such run; its address is for users of commands only."""

    def __init__(self, prefix: str, where: str) -> None:
        super().__init__(f'no run "{prefix}" in {where}', SEE_LIST)
        self.fact = f'no run "{prefix}"'


def find_run(store: Store, prefix: str) -> Run:
    """Return the run whose id starts with `prefix`, or the newest for "last"."""
    if not RUN_ID.fullmatch(prefix):
        raise UsageError(f'"{plain(prefix)}" is not a run id', SEE_LIST)
    with store.read() as session:
        candidates = runs.newest(session, 1) if prefix == "last" else runs.starting_with(session, prefix)
    if not candidates and prefix == "last":
        raise UsageError("there are no runs yet", "start one with: jarvis sec fast")
    if not candidates:
        raise RunNotFound(prefix, store.where)
    if len(candidates) > 1 and candidates[0].id != prefix:
        raise UsageError(
            f'"{prefix}" matches several runs, such as {candidates[0].id} and {candidates[1].id}; '
            "give more characters of the id"
        )
    return candidates[0]


def get_run(store: Store, run_id: str) -> Run | None:
    """Return the run with exactly this id, or None."""
    with store.read() as session:
        return runs.get(session, run_id)


def newest_runs(
    store: Store, limit: int, *, kinds: Collection[str] = (), root: bytes | None = None, states: Collection[str] = ()
) -> list[Run]:
    """Return the newest runs, newest first: of these kinds, over this source tree, in these states; by default all."""
    with store.read() as session:
        return runs.newest(session, limit, kinds=kinds, root=root, states=states)


def label_of(run: Run) -> str:
    """Return the label of a run, or "" if it has none."""
    return RunOptions.of(run).label or ""


class FirstDelivery(NamedTuple):
    """How the command that started a run was told to deliver the result; None for what it was not told."""

    output: str | None
    form: str | None
    fail_on: str | None
    relative_to: str | None


def first_delivery(run: Run) -> FirstDelivery:
    """Return how the command that started a run was told to deliver the result."""
    options = RunOptions.of(run)
    return FirstDelivery(options.output, options.output_format, options.fail_on, options.relative_to)


def set_label(store: Store, run: Run, label: str) -> None:
    """Set the label of a run; an empty one removes it. Raises UsageError."""
    name = " ".join(label.split())
    if len(name) > LABEL_MAX or not name.isprintable():
        raise UsageError(f'the label "{plain(name[:LABEL_MAX])}" should be printable, at most {LABEL_MAX} characters')
    with store.write() as session:
        runs.set_label(session, run.id, name)


def labels_of(store: Store, run_ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the labels of each of the runs, sorted by key."""
    with store.read() as session:
        return run_labels.labels_of(session, run_ids)


def runs_with_labels(store: Store, labels: Mapping[str, str | None], limit: int) -> list[Run]:
    """Return the newest runs that have all these labels, newest first; None matches any value."""
    with store.read() as session:
        return run_labels.labelled(session, labels, limit)


def stages_of(store: Store, run: Run) -> list[StageProgress]:
    """Return the progress of each stage of a run."""
    with store.read() as session:
        return stages.progress(session, run.id)


def is_local(run: Run) -> bool:
    """Return whether a run is executed by a command, not by the workers of a cluster."""
    return run.executor.startswith(LOCAL)


def is_abandoned(store: Store, run: Run, lease_seconds: float) -> bool:
    """Return whether a run is active but the command that executes it is gone."""
    if run.ended or run.state == "paused" or not run.executor.startswith(LOCAL):
        return False
    with store.read() as session:
        found = workers.find(session, run.executor.removeprefix(LOCAL), lease_seconds)
    return (found is None or not found[1] or has_ended(found[0])) and _is_still(store, run)


def _is_still(store: Store, run: Run) -> bool:
    """Return whether a run is still active with the same executor, which may have ended it since it was read."""
    with store.read() as session:
        now = runs.get(session, run.id)
    return now is not None and not now.ended and now.state != "paused" and now.executor == run.executor


def resume(store: Store, run: Run, executor: str, lease_seconds: float, *, budget: RunBudget | None = None) -> Run:
    """Resume a paused run, or one whose command is gone; its jobs are released without a crash count.

    A `budget` replaces the one of the run; a budget that is used up must be raised.
    """
    if run.state == "cancelled":
        raise UsageError(f"run {run.id} is cancelled; submit a new run")
    if run.ended:
        raise UsageError(f"run {run.id} is {run.state}; nothing to resume", f"failed jobs: jarvis runs retry {run.id}")
    if run.state == "cancelling":
        raise UsageError(f"run {run.id} is being cancelled; submit a new run")
    if run.state != "paused" and not is_abandoned(store, run, lease_seconds):
        raise UsageError(
            f"run {run.id} is being executed by {run.executor.removeprefix(LOCAL)}",
            f"see: jarvis runs watch {run.id}",
        )
    _check_stages(store, run)
    check_budget_left(store, run, budget)
    with store.write() as session:
        _lock_unchanged(session, run)
        if budget:
            budgets.put(session, run.id, budget)
        runs.take_up(session, run.id, executor)
        jobs.release_worker(session, run.executor.removeprefix(LOCAL))
    return find_run(store, run.id)


def retry(store: Store, run: Run, executor: str, *, budget: RunBudget | None = None) -> int:
    """Retry the failed jobs of an ended run; return their number. `budget` is as in `resume`."""
    if not run.ended or run.state == "cancelled":
        raise UsageError(f"run {run.id} is {run.state}; only a run that is done, incomplete or failed can be retried")
    _check_stages(store, run)
    check_budget_left(store, run, budget)
    with store.write() as session:
        _lock_unchanged(session, run)
        again = runs.retry(session, run.id, executor)
        if again and budget:
            budgets.put(session, run.id, budget)
    if not again:
        raise UsageError(
            f"run {run.id}: no job failed; submit again to check the files that the report lists as not checked"
        )
    return again


def _check_stages(store: Store, run: Run) -> None:
    """Raise UsageError if another version has begun the run with a stage that this one does not have."""
    with store.read() as session:
        names = stages.names(session, run.id)
    if has_pipeline(run.kind) and (missing := missing_stage(run.kind, names)):
        raise UsageError(
            f'run {run.id} was begun by version {run.version}, whose stage "{missing}" this version does not have',
            "submit a new run",
        )


def cancel(store: Store, run: Run, lease_seconds: float) -> Run:
    """Cancel a run; running jobs end first, unless the run is abandoned."""
    abandoned = run.state == "paused" or is_abandoned(store, run, lease_seconds)
    with store.write() as session:
        if not runs.cancel(session, run.id) and run.state != "cancelling":
            raise UsageError(f"run {run.id} has ended already", f"see: jarvis runs show {run.id}")
        if abandoned:
            jobs.release_worker(session, run.executor.removeprefix(LOCAL))
        advance(session, run.id)
    return find_run(store, run.id)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Callbacks for waiting: `clock` is monotonic, `sleep` waits; `show` gets the progress, `tell` the problems."""

    clock: Callable[[], float]
    sleep: Callable[[float], None]
    show: Callable[[Run, list[StageProgress]], None]
    tell: Callable[[str], None]
    tick_seconds: float
    lease_seconds: float


def wait(store: Store, run_id: str, timeout: float | None, waiting: Waiting) -> Run | None:
    """Return the run when it has ended, is paused or abandoned; None at the timeout.

    If the store becomes unavailable, retry for up to PATIENCE_SECONDS; then raise StoreUnavailable.
    """
    until = None if timeout is None else waiting.clock() + timeout
    away_since: float | None = None
    while True:
        try:
            run = _over(store, run_id, waiting)
            away_since = None
        except StoreUnavailable as problem:
            away_since = _bear(problem, away_since, waiting)
            run = None
        if run:
            return run
        rest = waiting.tick_seconds if until is None else min(waiting.tick_seconds, until - waiting.clock())
        if rest <= 0:
            return None
        waiting.sleep(rest)


def _over(store: Store, run_id: str, waiting: Waiting) -> Run | None:
    """Return the run if it cannot change without user action, else None."""
    run = find_run(store, run_id)
    waiting.show(run, stages_of(store, run))
    over = run.ended or run.state == "paused" or is_abandoned(store, run, waiting.lease_seconds)
    return run if over else None


def _bear(problem: StoreUnavailable, since: float | None, waiting: Waiting) -> float:
    now = waiting.clock()
    if since is None:
        waiting.tell(f"{problem}; waiting up to {PATIENCE_SECONDS:.0f} s")
        return now
    if now - since > PATIENCE_SECONDS:
        raise problem
    return since


def remove_runs(store: Store, run_ids: Sequence[str]) -> int:
    """Delete ended runs with their candidates, jobs and reports; return their number."""
    removed = 0
    for run_id in run_ids:
        with store.write() as session:
            removed += runs.remove(session, run_id)
    return removed


def remove_abandoned(store: Store, lease_seconds: float) -> int:
    """Remove parts of paused runs whose command did not, a day after they were submitted; return their number."""
    with store.read() as session:
        found = runs.submitted_before(session, BLOB_GRACE_SECONDS, PARTIAL_KINDS)
    for run in found:
        if run.state == "paused" or is_abandoned(store, run, lease_seconds):
            with suppress(UsageError):  # it has ended meanwhile
                cancel(store, run, lease_seconds)
    return remove_runs(store, [run.id for run in found])


def discard_run(store: Store, run_id: str, lease_seconds: float) -> None:
    """Delete a run whose command needs it no longer; one that has not ended is cancelled first."""
    with suppress(UsageError):  # it has ended
        cancel(store, find_run(store, run_id), lease_seconds)
    remove_runs(store, [run_id])


def check_clocks(store: Store, now: float) -> None:
    """Raise UsageError if ages cannot be trusted, since the clocks of the database and of this machine disagree."""
    ahead = store.now() - now
    if abs(ahead) > DISAGREEMENT_SECONDS:
        raise UsageError(
            f"the clock of the database is {ahead:+,.0f} s off this machine's, so nothing is deleted by its age; "
            "set both clocks with NTP, see: jarvis doctor"
        )


def ended_before(store: Store, days: float) -> list[str]:
    """Return the ids of runs that ended more than `days` ago."""
    with store.read() as session:
        return runs.ended_before(session, days * 86400)


def forget_answers(store: Store, days: float) -> int:
    """Delete cached model answers older than `days`; return their number."""
    with store.write() as session:
        return transcripts.forget_answers(session, days * 86400)


def prune_unused(store: Store, blobs: Blobs, now: float, grace_seconds: float = BLOB_GRACE_SECONDS) -> Pruned:
    """Delete blobs unreferenced for a day; return their number and total size."""
    with store.write(pauses=True) as session:
        artifacts.lock_uses(session)
        artifacts.drop_stale_uses(session, grace_seconds)
        workers.drop_dead(session, grace_seconds)
        return prune_blobs(blobs, artifacts.used_blobs(session), older_than_seconds=grace_seconds, now=now)


def _lock_unchanged(session: "Session", run: Run) -> None:
    """Lock a run; raise UsageError if it has changed, so that only one of two concurrent commands resumes it."""
    if runs.lock(session, run.id) != run:
        raise UsageError(f"run {run.id} has just changed", f"see: jarvis runs show {run.id}")
