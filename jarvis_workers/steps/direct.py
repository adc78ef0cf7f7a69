"""Carry out the scan of a small tree in this process: the steps of a run, one after the other, without a store.

For trees of one batch, where the start of a store costs more than the work.  Nothing is tried again here: whatever
fails is raised, and the caller carries the run out with a store, where it gets its share of care.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from jarvis_workers.sec.report.body import gather
from jarvis_workers.sec.triage import NOTHING_JUDGED, Judged
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.steps.earlier import Earlier, Outcome, result_of
from jarvis_workers.steps.flow import FINDING, Stage, step_of
from jarvis_workers.steps.gaps import Jobs
from jarvis_workers.steps.numbering import number_spots
from jarvis_workers.steps.report_body import ReportWork, encode_body, report_body
from jarvis_workers.steps.run_state import final_state
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run, StageProgress
from jarvis_workers.toolchain.limits import cpu_seconds

__all__ = ["DirectScan", "is_one_batch", "scan_directly"]

REPORT = "report"


class DirectScan(NamedTuple):
    """A run that has ended, its stages, and the body of its report."""

    run: Run
    stages: list[StageProgress]
    body: dict[str, Any]


def is_one_batch(run: Run, blobs: Blobs) -> bool:
    """Tell whether the snapshot of a run is one batch at most."""
    with open_snapshot(blobs, run.snapshot_id) as reader:
        batches = reader.batches(run.options["batch_files"], run.options["batch_bytes"])
        return sum(1 for _, _ in zip(batches, range(2), strict=False)) <= 1


def scan_directly(
    run: Run,
    blobs: Blobs,
    *,
    known: Mapping[str, int] | None = None,
    judged: Mapping[str, Judged] = NOTHING_JUDGED,
    show: Callable[[StageProgress, int], None] = lambda _stage, _findings: None,
    clock: Callable[[], float] = time.time,
) -> DirectScan:
    """Scan, and build the report; `known` is what a baseline has, `judged` what people have said of findings.

    `show` is told of each stage when it ends, with the candidates there are by then.
    """
    started, spent = clock(), cpu_seconds()
    outcomes: dict[str, list[Outcome]] = {}
    commits: list[Commit] = []
    stages: list[StageProgress] = []
    earlier = Earlier(lambda stage: outcomes[stage], blobs.put, lambda: iter(()))
    for stage in FINDING:
        begun = clock()
        done = _carry_out(run, blobs, stage, earlier)
        outcomes[stage.name] = [outcome for outcome, _ in done]
        commits += [commit for _, commit in done]
        stages.append(_progress(stage.name, [commit for _, commit in done], (begun, clock()), cpu_seconds() - spent))
        spent = cpu_seconds()
        show(stages[-1], sum(len(commit.spots) for commit in commits))
    begun = clock()
    body = _report(run, blobs, outcomes, commits, known, judged)
    stages.append(StageProgress(REPORT, "closed", jobs=1, done=1, opened_at=begun, closed_at=clock()))
    with open_snapshot(blobs, run.snapshot_id) as reader:
        not_checked = len(reader.index.not_checked) + sum(stage.not_checked for stage in stages)
    state, reason = final_state(failed=0, not_checked=not_checked, undecided=0)
    ended = replace(
        run,
        state=state,
        reason=reason,
        created_at=run.created_at or started,
        started_at=started,
        ended_at=clock(),
    )
    return DirectScan(ended, stages, body)


def _report(
    run: Run,
    blobs: Blobs,
    outcomes: Mapping[str, list[Outcome]],
    commits: Sequence[Commit],
    known: Mapping[str, int] | None,
    judged: Mapping[str, Judged],
) -> dict[str, Any]:
    least: float = run.options["min_confidence"]
    spots = [spot for commit in commits for spot in commit.spots]
    meanings = [meaning for commit in commits for meaning in commit.meanings]
    severities = run.options.get("rules", {}).get("severity", {})
    numbered = number_spots(spots, meanings, least)
    findings = gather(numbered, least, severities=severities, known=known, judged=judged)
    body: dict[str, Any] = json.loads(encode_body(report_body(ReportWork(run, findings, Jobs(**outcomes)), blobs)))
    return body


def _carry_out(run: Run, blobs: Blobs, stage: Stage, earlier: Earlier) -> list[tuple[Outcome, Commit]]:
    """Do the jobs of a stage; what a job had no time for is a job like any other."""
    step = step_of(stage.module)
    planned = step.plan_on(run, blobs, earlier) if hasattr(step, "plan_on") else step.plan(run, blobs)
    todo, done = list(planned), list[tuple[Outcome, Commit]]()
    for number, job in enumerate(todo, 1):
        work = step.load(cast(Any, None), run, _claimed(run, stage, job, number))
        commit = step.decide(work, blobs)
        todo += commit.children
        done.append((_outcome(job, commit), commit))
    return done


def _claimed(run: Run, stage: Stage, job: NewJob, number: int) -> Claimed:
    return Claimed(number, run.id, stage.name, job.step, job.queue, 1, job.label, job.payload, attempts=0, crashes=0)


def _outcome(job: NewJob, commit: Commit) -> Outcome:
    """Return the row that a store would have of the job."""
    return {
        "state": "done",
        "reason": None,
        "label": job.label,
        "weight": job.weight,
        "payload": job.payload,
        "result": result_of(commit).decode() or None,
        "files": commit.files,
    }


def _progress(name: str, commits: list[Commit], between: tuple[float, float], seconds: float) -> StageProgress:
    return StageProgress(
        name,
        "closed",
        jobs=len(commits),
        done=len(commits),
        files=sum(commit.files for commit in commits),
        bytes=sum(commit.size for commit in commits),
        not_checked=sum(len(commit.not_checked) for commit in commits),
        cached=sum(commit.cached for commit in commits),
        cpu_seconds=seconds,
        opened_at=between[0],
        closed_at=between[1],
    )
