"""Record a finished run that was executed without a store, in one transaction, through Python's sqlite3 module.

Except for plan jobs, the rows are the same as those that a controller and workers would write, so that later readers
find nothing missing. A test compares the rows table by table.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jarvis_workers.paths import shown
from jarvis_workers.sec.finding import HIT_FIELDS, RULE_FIELDS
from jarvis_workers.store.values import Claimed, Run, SnapshotFacts, Spot, StageProgress


@dataclass(frozen=True, slots=True)
class RecordedJob:
    """A finished job; times are in seconds since 1970, `result` is the input of later stages."""

    job: Claimed
    input_hash: str
    weight: int
    began: float
    ended: float
    files: int = 0
    bytes: int = 0
    not_checked: int = 0
    cached: int = 0
    cpu_seconds: float = 0.0
    result: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedCandidate:
    """A candidate of job number `job`; `rule` has the RULE_FIELDS of its rule; a `superseded` one has no gid."""

    job: int
    spot: Spot
    gid: int | None
    superseded: str | None
    rule: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A finished run; jobs are numbered from 1, `artifacts` are (name, blob, size), `blobs` all blobs in use."""

    run: Run
    snapshot: SnapshotFacts
    stages: Sequence[StageProgress]
    jobs: Sequence[RecordedJob]
    candidates: Sequence[RecordedCandidate]
    artifacts: Sequence[tuple[str, str, int]]
    blobs: Iterable[str]
    labels: Mapping[str, str] = field(default_factory=dict)


def record_run(connection: sqlite3.Connection, done: RecordedRun) -> None:
    """Insert all rows of a run, or none if it raises sqlite3.Error."""
    run, ended = done.run, done.run.ended_at
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        blobs = [{"owner": run.id, "blob": blob, "at": ended} for blob in sorted(set(done.blobs))]
        _insert(connection, "blob_use", blobs)
        facts = {name: getattr(done.snapshot, name) for name in SnapshotFacts.__dataclass_fields__}
        _insert(connection, "snapshot", [facts | {"created_at": run.created_at}], or_ignore=True)
        fields = {name: getattr(run, name) for name in Run.__dataclass_fields__}
        _insert(connection, "run", [fields | {"options": json.dumps(run.options, sort_keys=True)}])
        labels = [{"run_id": run.id, "key": key, "value": value} for key, value in done.labels.items()]
        _insert(connection, "run_label", labels)
        _insert(connection, "stage", [_stage(run, number, stage) for number, stage in enumerate(done.stages)])
        ids = [_insert_job(connection, job) for job in done.jobs]
        _insert(connection, "candidate", [_candidate(run, one, ids[one.job - 1]) for one in done.candidates])
        _insert(connection, "artifact", [_artifact(run, *one) for one in done.artifacts])
        _insert(connection, "event", [_event(run, event) for event in run_events(run, done.stages)])


def _insert(
    connection: sqlite3.Connection, table: str, rows: Sequence[Mapping[str, Any]], *, or_ignore: bool = False
) -> None:
    if not rows:
        return
    names = list(rows[0])
    quoted = ", ".join(f'"{name}"' for name in names)
    verb = "INSERT OR IGNORE" if or_ignore else "INSERT"
    places = ", ".join(f":{name}" for name in names)
    connection.executemany(f"{verb} INTO {table} ({quoted}) VALUES ({places})", rows)


def _insert_job(connection: sqlite3.Connection, done: RecordedJob) -> int:
    claimed = done.job
    row = {
        **{name: getattr(claimed, name) for name in ("run_id", "stage", "step", "queue", "label", "payload", "fence")},
        **{name: getattr(claimed, name) for name in ("attempts", "crashes")},
        **{name: getattr(done, name) for name in ("input_hash", "weight", "files", "bytes", "not_checked", "cached")},
        "cpu_seconds": done.cpu_seconds,
        "result": done.result,
        "state": "done",
        "not_before": 0.0,
        "started_at": done.began,
        "finished_at": done.ended,
    }
    names = ", ".join(row)
    inserted = connection.execute(f"INSERT INTO job ({names}) VALUES ({', '.join(f':{name}' for name in row)})", row)
    return inserted.lastrowid or 0


def _stage(run: Run, ordinal: int, stage: StageProgress) -> dict[str, Any]:
    times = {"opened_at": stage.opened_at, "closed_at": stage.closed_at}
    return {"run_id": run.id, "name": stage.name, "ordinal": ordinal, "state": stage.state, **times}


def _candidate(run: Run, candidate: RecordedCandidate, job_id: int) -> dict[str, Any]:
    spot = candidate.spot
    return {
        **{name: candidate.rule[name] for name in RULE_FIELDS},
        "run_id": run.id,
        "job_id": job_id,
        "gid": candidate.gid,
        "superseded": candidate.superseded,
        "file_raw": spot.path,
        "file": shown(spot.path),
        **{name: getattr(spot, name) for name in HIT_FIELDS},
    }


def _artifact(run: Run, name: str, blob: str, size: int) -> dict[str, Any]:
    return {"run_id": run.id, "name": name, "blob": blob, "size": size, "created_at": run.ended_at}


def run_events(run: Run, stages: Sequence[StageProgress]) -> list[dict[str, Any]]:
    """Return the events of a run, from submission to end, in the form of `store.events.read`."""
    return [
        {"at": run.created_at, "stage": None, "name": "submitted", "executor": run.executor},
        *({"at": stage.closed_at, "stage": stage.name, "name": "closed"} for stage in stages),
        {"at": run.ended_at, "stage": None, "name": run.state, "reason": run.reason},
    ]


def _event(run: Run, event: Mapping[str, Any]) -> dict[str, Any]:
    columns = {name: event[name] for name in ("stage", "name", "at")}
    facts = {name: value for name, value in event.items() if name not in columns}
    return {"run_id": run.id, **columns, "facts": json.dumps(facts, sort_keys=True)}
