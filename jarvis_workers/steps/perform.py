"""Do a job: load, decide, save. Nothing is held open while it decides."""

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from jarvis_workers.errors import SnapshotError, StepFailed
from jarvis_workers.paths import shown
from jarvis_workers.sec.finding import Numbered
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.steps.counted import counted_of
from jarvis_workers.steps.earlier import Earlier, Outcome
from jarvis_workers.steps.flow import PLAN, stage_of, step_of
from jarvis_workers.store import artifacts, jobs, runs, talks
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, Finished, NewJob

PLAN_CHUNK = 5000
ROW_BYTES = 4096


def perform(store: Store, blobs: Blobs, job: Claimed) -> Commit | None:
    """Do a job here; None when it was lost meanwhile. A plan job inserts its jobs as it goes."""
    if job.step == PLAN:
        return _plan(store, blobs, job)
    module, work = load(store, job)
    return step_of(module).decide(work, blobs)


def load(store: Store, job: Claimed) -> tuple[str, Any]:
    """Return the module of the job's step, and its work."""
    with store.read() as session:
        run = _run(runs.get(session, job.run_id), job)
        module = stage_of(run.kind, job.stage).module
        return module, step_of(module).load(session, run, job)


def recall(module: str, work: Any, blobs: Blobs) -> Commit | None:
    """Return the commit of a job that a step knows already, with the CPU that this took; None if it does not."""
    known = getattr(step_of(module), "recall", None)
    began = time.thread_time()
    try:
        commit = known(work, blobs) if known else None
    except (SnapshotError, StepFailed):
        return None
    return commit._replace(cpu_seconds=time.thread_time() - began) if commit else None


def save(store: Store, blobs: Blobs, done: Sequence[tuple[Claimed, Commit]]) -> set[int]:
    """Commit what jobs did; return the ids accepted. Large parts go to the blob store first."""
    finished = [keep(store, blobs, job, commit) for job, commit in done]
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
        step.plan_on(run, blobs, _earlier(store, blobs, run)) if hasattr(step, "plan_on") else step.plan(run, blobs)
    )
    for chunk in _chunks(planned):
        with store.write() as session:
            if not jobs.plan_more(session, job, chunk):
                return None
    return Commit()


def _earlier(store: Store, blobs: Blobs, run: runs.Run) -> Earlier:
    """Let a plan look back; no session is held while it thinks."""

    def outcomes(stage: str) -> list[Outcome]:
        with store.read() as session:
            return jobs.outcomes(session, run.id, stage)

    def counted() -> Iterator[Numbered]:
        with store.read() as session:
            yield from counted_of(session, run)

    return Earlier(outcomes, lambda content: _put(store, blobs, run.id, content), counted)


def _chunks(planned: Iterator[NewJob]) -> Iterator[list[NewJob]]:
    while chunk := list(islice(planned, PLAN_CHUNK)):
        yield chunk


def keep(store: Store, blobs: Blobs, job: Claimed, commit: Commit) -> Finished:
    """Put the large parts of a commit into the blob store."""
    large = chain(commit.artifacts, _transcript(store, job))
    kept = tuple((name, _put(store, blobs, job.run_id, content), len(content)) for name, content in large)
    if commit.blobs:
        with store.write() as session:
            artifacts.want(session, job.run_id, [blob for _, blob in commit.blobs])
    if not (commit.not_checked or commit.remarks or commit.profile or commit.blobs):
        return Finished(job, commit, None, kept)
    not_checked = [[shown(path), reason] for path, reason in commit.not_checked]
    remarks = [[shown(path), *said] for path, *said in commit.remarks]
    said = {"not_checked": not_checked, "remarks": remarks, "profile": commit.profile}
    result = json.dumps(said | dict(commit.blobs))
    if len(result) > ROW_BYTES:
        result = json.dumps({"blob": _put(store, blobs, job.run_id, result.encode())})
    return Finished(job, commit, result, kept)


def _transcript(store: Store, job: Claimed) -> Iterator[tuple[str, bytes]]:
    """Yield what a conversation was told, which the store has line by line: in memory many would take much room."""
    if job.queue == AGENT_QUEUE:
        with store.read() as session:
            lines = talks.lines(session, job.id)
        if lines:
            yield artifacts.transcript_name(job.id), b"\n".join(lines)


def _put(store: Store, blobs: Blobs, run_id: str, content: bytes) -> str:
    with store.write() as session:
        artifacts.want(session, run_id, [hashlib.sha256(content).hexdigest()])
    return blobs.put(content)


def _run(run: runs.Run | None, job: Claimed) -> runs.Run:
    if run is None:
        raise StepFailed(f"job {job.id}: its run {job.run_id} is gone")
    return run
