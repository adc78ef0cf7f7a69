"""The crate of a paused run: a short run merges and tests what is accepted so far, without a model.

The command that submits it removes it.  If the command is killed, `jarvis runs prune` does, a day later.
"""

from contextlib import suppress
from dataclasses import replace
from secrets import token_hex
from typing import Any

from jarvis_workers.c2rust.stages.checked_functions import STEP as CHECK
from jarvis_workers.c2rust.stages.pipelines import PARTIAL, PARTIAL_FAST, RUN, TRANSPILE
from jarvis_workers.errors import UsageError
from jarvis_workers.pipeline.controller import plan_job
from jarvis_workers.pipeline.stages import stages_of
from jarvis_workers.runs.runs import LOCAL, Waiting, cancel, find_run, remove_runs, wait
from jarvis_workers.store import jobs, runs, stages, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

# The time in which workers end the jobs of an interrupted run.
END_SECONDS = 10.0
MECHANICAL: dict[str, Any] = {"translate": False, "libraries": "", "plan": ""}


def has_partial_crate(run: Run) -> bool:
    """Return whether a run is paused that translates functions, so that a crate can be made of it."""
    return run.kind in (TRANSPILE, RUN) and run.state == "paused"


def submit_partial_crate(store: Store, run: Run, executor: str) -> str:
    """Submit a run that makes the crate of a paused run, and return its id.

    It reads the results of the paused run.  If the gates of that one have not run yet, it translates the project
    mechanically instead, as `jarvis c2rust fast` does.
    """
    run_id = token_hex(4)
    with store.write() as session:
        closed = {stage.name for stage in stages.progress(session, run.id) if stage.state == "closed"}
        kind, changes = (PARTIAL, {"paused_run": run.id}) if CHECK in closed else (PARTIAL_FAST, MECHANICAL)
        options, snapshot = {**run.options, **changes}, runs.snapshot(session, run.snapshot_id)
        assert snapshot is not None
        names = [stage.name for stage in stages_of(kind)]
        workers.touch_existing(session, executor.removeprefix(LOCAL))
        fresh = replace(run, id=run_id, kind=kind, executor=executor, options=options, state="planning", reason=None)
        runs.add(session, replace(fresh, started_at=None), snapshot, names)
        jobs.insert_jobs(session, run_id, names[0], [plan_job(names[0])])
    return run_id


def remove_partial_crate(store: Store, run_id: str, waiting: Waiting) -> bool:
    """Remove the run that made the crate of a paused run; an interrupted one is cancelled first.

    Return False if it is left to `runs.runs.remove_abandoned`, because workers still execute a job of it.
    """
    with suppress(UsageError):  # it has ended, or was removed by another command
        cancel(store, find_run(store, run_id), waiting.lease_seconds)
        wait(store, run_id, END_SECONDS, waiting)
    remove_runs(store, [run_id])
    with store.read() as session:
        return runs.get(session, run_id) is None
