"""The rows of a run that was scanned without a store. Avoids slow imports."""

from typing import Any

from jarvis_workers.pipeline.history import result_of
from jarvis_workers.sec.finding import RULE_FIELDS
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.rules.families.flow import HARMLESS
from jarvis_workers.sec.stages.direct import DirectJob, DirectScan
from jarvis_workers.sec.stages.numbering import place_spots
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.report_body import encode_body
from jarvis_workers.sec.stages.results import spots_of
from jarvis_workers.sec.store.sqlite_recorder import RecordedCandidate, RecordedJob, RecordedRun
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.pack import Snapshot
from jarvis_workers.store.values import Claimed, Run, SnapshotFacts

ROW_BYTES = 4096
REPORT = "report"


def recorded(done: DirectScan, snapshot: Snapshot, blobs: Blobs) -> RecordedRun:
    """Return the rows of a run; large parts of its jobs and the report are written to the blob store."""
    run, jobs = done.run, [_job(done.run, number, one, blobs) for number, one in enumerate(done.jobs, 1)]
    content = encode_body(done.body)
    report = blobs.put(content)
    last = done.stages[-1]
    claimed = Claimed(len(jobs) + 1, run.id, REPORT, REPORT, "control", 1, "write the report", "{}", 0, 0)
    written = RecordedJob(claimed, REPORT, 0, last.opened_at or 0.0, last.closed_at or 0.0)
    blob_names = {snapshot.id, snapshot.manifest, *snapshot.shards, report, *done.shared}
    blob_names |= {blob for one in done.jobs for _, blob in one.commit.blobs}
    if rules := SecOptions.of(run).rules.blob:
        blob_names.add(rules)
    return RecordedRun(
        run=run,
        snapshot=SnapshotFacts(snapshot.id, snapshot.files, snapshot.bytes, len(snapshot.not_checked)),
        stages=done.stages,
        jobs=[*(job for job, _ in jobs), written],
        candidates=_candidates(done),
        artifacts=[(REPORT, report, len(content))],
        blobs=blob_names | {blob for _, blob in jobs if blob},
    )


def _job(run: Run, number: int, done: DirectJob, blobs: Blobs) -> tuple[RecordedJob, str | None]:
    """Return the row of a job, and the blob of its result if that is too long for a row."""
    job, commit = done.job, done.commit
    result, blob = result_of(commit), None
    if len(result) > ROW_BYTES:
        blob = blobs.put(result)
        result = b'{"blob": "%b"}' % blob.encode()
    claimed = Claimed(number, run.id, done.stage, job.step, job.queue, 1, job.label, job.payload, 0, 0)
    row = RecordedJob(
        claimed,
        job.input_hash,
        job.weight,
        done.began,
        done.ended,
        files=commit.files,
        bytes=commit.size,
        not_checked=len(commit.not_checked),
        cached=commit.cached,
        cpu_seconds=commit.cpu_seconds,
        result=result.decode() or None,
    )
    return row, blob


def _candidates(done: DirectScan) -> list[RecordedCandidate]:
    found_by = {spot: number for number, one in enumerate(done.jobs, 1) for spot in spots_of(one.commit)}
    placed = place_spots(list(found_by), SecOptions.of(done.run).min_confidence)
    return [RecordedCandidate(found_by[one.spot], *one, _rule_facts(one.spot.pattern)) for one in placed]


def _rule_facts(pattern: str) -> dict[str, Any]:
    """Return the fields of a rule; a pattern for harmless sites has those of the first rule that it supersedes."""
    rule = RULES_BY_PATTERN[HARMLESS[pattern][0] if pattern in HARMLESS else pattern]
    return {name: getattr(rule, name) for name in RULE_FIELDS}
