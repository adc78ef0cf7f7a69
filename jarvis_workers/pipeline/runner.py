"""Run a job: load its input, decide, save the result. No session is open during `decide`."""

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from jarvis_workers.errors import SnapshotError, StepFailed
from jarvis_workers.pipeline.history import StageHistory, result_of
from jarvis_workers.pipeline.stages import PLAN, stage_of, stages_of, step_of
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import artifacts, jobs, runs, transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.queues import has_conversations
from jarvis_workers.store.values import Claimed, Commit, Finished, Run, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

PLAN_CHUNK = 5000
# Jobs per save, since their transcripts are in memory meanwhile.
SAVED_AT_ONCE = 8
ROW_BYTES = 4096

T = TypeVar("T")


def run_job(store: Store, resources: Resources, job: Claimed) -> Commit | None:
    """Run a job in this process; return None if its lease was lost meanwhile. A plan job inserts its jobs in chunks."""
    if job.step == PLAN:
        return _plan(store, resources.blobs, job)
    module, work = load(store, job)
    return step_of(module).decide(work, resources)


def load(store: Store, job: Claimed) -> tuple[str, Any]:
    """Return the module of the job's step, and the work that its `load` returns."""
    with store.read() as session:
        return Loading(session).load(job)


class Loading:
    """Loads the input of several jobs in one session, and each of their runs once."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._runs: dict[str, Run | None] = {}

    def load(self, job: Claimed) -> tuple[str, Any]:
        """Return the module of the job's step, and the work that its `load` returns."""
        if job.run_id not in self._runs:
            self._runs[job.run_id] = runs.get(self._session, job.run_id)
        run = _run(self._runs[job.run_id], job)
        module = stage_of(run.kind, job.stage).module
        return module, step_of(module).load(self._session, run, job)


def recall(module: str, work: Any, resources: Resources) -> Commit | None:
    """Return the cached commit of a job, with the CPU seconds that the lookup took; None if it is not cached."""
    recall_step = getattr(step_of(module), "recall", None)
    began = time.thread_time()
    try:
        commit = recall_step(work, resources) if recall_step else None
    except (SnapshotError, StepFailed):
        return None
    return commit._replace(cpu_seconds=time.thread_time() - began) if commit else None


def save(store: Store, blobs: Blobs, done: Sequence[tuple[Claimed, Commit]]) -> set[int]:
    """Commit the results of jobs; return the accepted ids. Large parts go to the blob store first."""
    finished = [one for part in _chunks(iter(done), SAVED_AT_ONCE) for one in save_large_parts(store, blobs, part)]
    with store.write() as session:
        accepted = jobs.commit_many(session, finished)
        for job, _ in done:
            if job.step == PLAN and job.id in accepted:
                runs.start(session, job.run_id)
    return accepted


def _plan(store: Store, blobs: Blobs, job: Claimed) -> Commit | None:
    with store.read() as session:
        run = _run(runs.get(session, job.run_id), job)
    step = step_of(stage_of(run.kind, job.stage).module)
    planned = (
        step.plan_on(run, blobs, history_of(store, blobs, run)) if hasattr(step, "plan_on") else step.plan(run, blobs)
    )
    names = {stage.name for stage in stages_of(run.kind)}
    for chunk in _chunks(planned, PLAN_CHUNK):
        # A task is named by the step of its job: workers drop messages that name an unknown task.
        if unknown := {one.step for one in chunk} - names:
            raise StepFailed(f"the pipeline {run.kind} has no stage {unknown.pop()!r}, the step of a planned job")
        with store.write() as session:
            if not jobs.plan_more(session, job, chunk):
                return None
    return Commit()


def history_of(store: Store, blobs: Blobs, run: Run) -> StageHistory:
    """Return the history for a plan; no session stays open while the plan computes."""

    def outcomes(stage: str) -> list[StageJob]:
        with store.read() as session:
            return jobs.outcomes(session, run.id, stage)

    return StageHistory(outcomes, lambda content: _put(store, blobs, run.id, content), store.read)


def _chunks(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while chunk := list(islice(items, size)):
        yield chunk


def save_large_parts(store: Store, blobs: Blobs, done: Sequence[tuple[Claimed, Commit]]) -> list[Finished]:
    """Put the large parts of commits into the blob store, after recording the blob uses of all commits at once."""
    with store.read() as session:
        transcripts = {job.id: _transcript(session, job) for job, _ in done if has_conversations(job.queue)}
    results = [result_of(commit) for _, commit in done]
    parts = [
        [*commit.artifacts, *transcripts.get(job.id, ())] + ([("", result)] if len(result) > ROW_BYTES else [])
        for (job, commit), result in zip(done, results, strict=True)
    ]
    uses: defaultdict[str, list[str]] = defaultdict(list)
    for (job, commit), large in zip(done, parts, strict=True):
        uses[job.run_id] += [blob for _, blob in commit.blobs]
        uses[job.run_id] += [hashlib.sha256(content).hexdigest() for _, content in large]
    if any(uses.values()):
        with store.write() as session:
            for run_id, names in uses.items():
                artifacts.add_uses(session, run_id, names)
    return [
        _finished(job, commit, result, [(name, blobs.put(content), len(content)) for name, content in large])
        for (job, commit), result, large in zip(done, results, parts, strict=True)
    ]


def _finished(job: Claimed, commit: Commit, result: bytes, artifacts: Sequence[tuple[str, str, int]]) -> Finished:
    """Return the finished job; a result too long for a row is in the blob with the empty name."""
    text = result.decode() or None
    for name, blob, _ in artifacts:
        text = text if name else json.dumps({"blob": blob})
    return Finished(job, commit, text, tuple(one for one in artifacts if one[0]))


def _transcript(session: "Session", job: Claimed) -> list[tuple[str, bytes]]:
    """Return the transcript of a conversation as one blob; it is loaded from the store to keep memory use low."""
    lines = transcripts.lines(session, job.id)
    return [(artifacts.transcript_name(job.id), b"\n".join(lines))] if lines else []


def _put(store: Store, blobs: Blobs, run_id: str, content: bytes) -> str:
    with store.write() as session:
        artifacts.add_uses(session, run_id, [hashlib.sha256(content).hexdigest()])
    return blobs.put(content)


def _run(run: Run | None, job: Claimed) -> Run:
    if run is None:
        raise StepFailed(f"job {job.id}: its run {job.run_id} was removed")
    return run
