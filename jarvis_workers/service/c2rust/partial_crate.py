"""The crate of a paused run: a short run merges and tests what is accepted so far, without a model."""

from dataclasses import replace
from secrets import token_hex
from typing import Any

from jarvis_workers.pipeline.controller import plan_job
from jarvis_workers.pipeline.stages import stages_of
from jarvis_workers.service.runs import LOCAL
from jarvis_workers.steps.c2rust.check_bodies import STEP as CHECK
from jarvis_workers.steps.c2rust.pipelines import FAST, PARTIAL, RUN, TRANSPILE
from jarvis_workers.store import jobs, runs, stages, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

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
        kind, changes = (PARTIAL, {"paused_run": run.id}) if CHECK in closed else (FAST, MECHANICAL)
        options, snapshot = {**run.options, **changes}, runs.snapshot(session, run.snapshot_id)
        assert snapshot is not None
        names = [stage.name for stage in stages_of(kind)]
        workers.touch_existing(session, executor.removeprefix(LOCAL))
        fresh = replace(run, id=run_id, kind=kind, executor=executor, options=options, state="planning", reason=None)
        runs.add(session, replace(fresh, started_at=None), snapshot, names)
        jobs.insert_jobs(session, run_id, names[0], [plan_job(names[0])])
    return run_id
