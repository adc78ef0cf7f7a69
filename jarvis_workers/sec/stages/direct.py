"""Scan a small tree in this process: run the steps one after the other, without a store.

This is for trees of one batch, where opening a store takes longer than the scan. There are no retries: a failure is
raised, and the caller repeats the run with a store, where jobs are retried.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from jarvis_workers.pipeline.history import StageHistory, result_of
from jarvis_workers.pipeline.run_state import NOT_CHECKED, final_state
from jarvis_workers.pipeline.stages import Stage, chosen_stages, step_of
from jarvis_workers.sec.report.body import gather
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.sec.stages.numbering import number_spots
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.pipelines import SCANNING
from jarvis_workers.sec.stages.report_body import ReportWork, report_body
from jarvis_workers.sec.stages.results import candidates_of, spots_of
from jarvis_workers.sec.triage_states import NOTHING_JUDGED, TriageVerdict
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run, StageJob, StageProgress
from jarvis_workers.toolchain.limits import cpu_seconds

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

REPORT = "report"


class DirectJob(NamedTuple):
    """A finished job; `began` and `ended` are in seconds since 1970."""

    stage: str
    job: NewJob
    commit: Commit
    began: float
    ended: float


class DirectScan(NamedTuple):
    """A finished run, its stages and jobs, the body of its report, and the blobs shared by its jobs."""

    run: Run
    stages: list[StageProgress]
    body: ReportBody
    jobs: list[DirectJob]
    shared: list[str]


def is_one_batch(run: Run, blobs: Blobs) -> bool:
    """Return whether the snapshot of a run has at most one batch."""
    with open_snapshot(blobs, run.snapshot_id) as reader:
        options = SecOptions.of(run)
        batches = reader.batches(options.batch_files, options.batch_bytes)
        return sum(1 for _, _ in zip(batches, range(2), strict=False)) <= 1


def scan_directly(
    run: Run,
    resources: Resources,
    *,
    baseline: Mapping[str, int] | None = None,
    judged: Mapping[str, TriageVerdict] = NOTHING_JUDGED,
    show: Callable[[StageProgress, int], None] = lambda _stage, _findings: None,
    clock: Callable[[], float] = time.time,
) -> DirectScan:
    """Scan, and build the report.

    `baseline` is the baseline (number of findings by fingerprint), `judged` maps fingerprints to triage verdicts.
    `show` is called with each finished stage and the number of candidates so far.
    """
    started, blobs = clock(), resources.blobs
    outcomes: dict[str, list[StageJob]] = {}
    jobs: list[DirectJob] = []
    shared: list[str] = []
    stages: list[StageProgress] = []

    def share(content: bytes) -> str:
        shared.append(blobs.put(content))
        return shared[-1]

    earlier = StageHistory(lambda stage: outcomes[stage], share, _no_store)
    for stage in chosen_stages(SCANNING, SecOptions.of(run)):
        begun = clock()
        done = list(_carry_out(run, resources, stage, earlier, clock))
        outcomes[stage.name] = [_outcome(one.job, one.commit) for one in done]
        jobs += done
        stages.append(_progress(stage.name, [one.commit for one in done], (begun, clock())))
        show(stages[-1], sum(len(spots_of(one.commit)) for one in jobs))
    begun = clock()
    body = _report(run, blobs, outcomes, [one.commit for one in jobs], baseline, judged)
    stages.append(StageProgress(REPORT, "closed", jobs=1, done=1, opened_at=begun, closed_at=clock()))
    return DirectScan(_ended(run, blobs, stages, started, clock), stages, body, jobs, shared)


def _ended(run: Run, blobs: Blobs, stages: Sequence[StageProgress], started: float, clock: Callable[[], float]) -> Run:
    """Return the run in its final state."""
    with open_snapshot(blobs, run.snapshot_id) as reader:
        not_checked = len(reader.index.not_checked) + sum(stage.not_checked for stage in stages)
    state, reason = final_state(failed=0, missing={NOT_CHECKED: not_checked})
    created = run.created_at or started
    return replace(run, state=state, reason=reason, created_at=created, started_at=started, ended_at=clock())


def _report(
    run: Run,
    blobs: Blobs,
    outcomes: Mapping[str, list[StageJob]],
    commits: Sequence[Commit],
    baseline: Mapping[str, int] | None,
    judged: Mapping[str, TriageVerdict],
) -> ReportBody:
    options = SecOptions.of(run)
    least, severities = options.min_confidence, options.rules.severity
    results = [result for commit in commits for result in candidates_of(commit)]
    spots = [spot for result in results for spot in result.spots]
    meanings = [meaning for result in results for meaning in result.meanings]
    numbered = number_spots(spots, meanings, least)
    findings = gather(numbered, least, severities=severities, baseline=baseline, judged=judged)
    return report_body(ReportWork(run, findings, outcomes), blobs)


def _carry_out(
    run: Run, resources: Resources, stage: Stage, earlier: StageHistory, clock: Callable[[], float]
) -> Iterator[DirectJob]:
    """Execute the jobs of a stage and their child jobs."""
    step = step_of(stage.module)
    planned = (
        step.plan_on(run, resources.blobs, earlier) if hasattr(step, "plan_on") else step.plan(run, resources.blobs)
    )
    todo = list(planned)
    for number, job in enumerate(todo, 1):
        began, spent = clock(), cpu_seconds()
        work = step.load(cast(Any, None), run, _claimed(run, stage, job, number))
        recall = getattr(step, "recall", None)
        commit = (recall and recall(work, resources)) or step.decide(work, resources)
        commit = commit._replace(cpu_seconds=cpu_seconds() - spent)
        todo += commit.children
        yield DirectJob(stage.name, job, commit, began, clock())


def _claimed(run: Run, stage: Stage, job: NewJob, number: int) -> Claimed:
    return Claimed(number, run.id, stage.name, job.step, job.queue, 1, job.label, job.payload, attempts=0, crashes=0)


def _no_store() -> "AbstractContextManager[Session]":
    """Raise an error, since no stage before the report reads the store."""
    raise AssertionError("a scan without a store has no session")


def _outcome(job: NewJob, commit: Commit) -> StageJob:
    """Return the job in the form in which the store returns it."""
    result = result_of(commit).decode() or None
    return StageJob("done", None, job.label, job.weight, job.payload, result, commit.files)


def _progress(name: str, commits: list[Commit], between: tuple[float, float]) -> StageProgress:
    return StageProgress(
        name,
        "closed",
        jobs=len(commits),
        done=len(commits),
        files=sum(commit.files for commit in commits),
        bytes=sum(commit.size for commit in commits),
        not_checked=sum(len(commit.not_checked) for commit in commits),
        cached=sum(commit.cached for commit in commits),
        cpu_seconds=sum(commit.cpu_seconds for commit in commits),
        opened_at=between[0],
        closed_at=between[1],
    )
