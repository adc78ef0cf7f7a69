"""Submit a run: pack the source tree and insert the run."""

from collections.abc import Callable
from hashlib import sha256

from jarvis_workers import __version__
from jarvis_workers.errors import UsageError
from jarvis_workers.pipeline.controller import plan_job
from jarvis_workers.pipeline.stages import chosen_stages, stages_without
from jarvis_workers.runs.checkouts import committed_files
from jarvis_workers.runs.labels import marked_labels
from jarvis_workers.runs.named_runs import NameTaken
from jarvis_workers.runs.request import FollowUpRequest, RunInput, RunRequest, check_path, check_snapshot, run_of
from jarvis_workers.runs.runs import LOCAL
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.pack import Snapshot, pack
from jarvis_workers.store import artifacts, budgets, jobs, run_labels, run_names, runs, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.run_names import NamedRun
from jarvis_workers.store.values import Run, SnapshotFacts


def submit(
    store: Store, blobs: Blobs, request: RunRequest[RunInput], on_progress: Callable[[int, int], None] | None = None
) -> str:
    """Pack the tree and insert the run; return its id. Raises UsageError if there is nothing to do, NameTaken."""
    check_path(request.path)
    stages = stages_without(request.kind, request.skipped_stages)
    names = [stage.name for stage in chosen_stages(stages, request.run_input.options)]
    owner = f"submit:{request.run_id}"

    def intend(blob: str) -> None:
        with store.write() as session:
            artifacts.add_uses(session, owner, [blob])

    committed = committed_files(request.path, request.selection)
    snapshot = pack(request.path, request.selection, blobs, on_progress, on_shard=intend, committed=committed)
    check_snapshot(request, snapshot)
    for content in request.run_input.contents:
        intend(sha256(content).hexdigest())
        blobs.put(content)
    run = run_of(request, snapshot, store)
    with store.write() as session:
        artifacts.add_uses(session, owner, [snapshot.id, snapshot.manifest])
        artifacts.transfer_uses(session, owner, request.run_id)
        workers.touch_existing(session, request.executor.removeprefix(LOCAL))
        runs.add(session, run, _facts(snapshot), names)
        run_labels.add(session, request.run_id, marked_labels(request.labels, run))
        if (name := request.name) and not run_names.add(
            session, name.name, NamedRun(request.run_id, name.request_hash)
        ):
            raise NameTaken(f'--name: "{name.name}" was taken by another command at the same time; try again')
        jobs.insert_jobs(session, request.run_id, names[0], [plan_job(names[0])])
        request.run_input.insert(session, request.run_id)
        if request.budget:
            budgets.put(session, request.run_id, request.budget)
    return request.run_id


def submit_over(store: Store, earlier: Run, request: FollowUpRequest) -> str:
    """Insert a run over the snapshot of an earlier one; return its id. Raises UsageError if that has been removed."""
    run = Run(
        id=request.run_id,
        kind=request.kind,
        root=earlier.root,
        root_raw=earlier.root_raw,
        snapshot_id=earlier.snapshot_id,
        executor=request.executor,
        version=__version__,
        options=request.options.encode(),
    )
    names = [stage.name for stage in stages_without(request.kind, ())]
    with store.write() as session:
        facts = runs.snapshot(session, earlier.snapshot_id)
        if facts is None or runs.lock(session, earlier.id) is None:
            raise UsageError(f"run {earlier.id} has been removed")
        artifacts.copy_uses(session, earlier.id, run.id)
        workers.touch_existing(session, request.executor.removeprefix(LOCAL))
        runs.add(session, run, facts, names)
        jobs.insert_jobs(session, run.id, names[0], [plan_job(names[0])])
        if request.budget:
            budgets.put(session, run.id, request.budget)
    return run.id


def _facts(snapshot: Snapshot) -> SnapshotFacts:
    return SnapshotFacts(snapshot.id, snapshot.files, snapshot.bytes, len(snapshot.not_checked))
