"""Collect the metrics of the functions of a batch of files, from which stage `discover` ranks them.

A file that exceeds its limits is reported: its functions are not ranked.
"""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jarvis_workers.paths import as_text, from_text, shown
from jarvis_workers.pipeline.batches import BatchPayload, BatchWork, batch_job, rest_label, work_of
from jarvis_workers.pipeline.each_file import FileNotChecked, Task, each_file
from jarvis_workers.pipeline.history import StageHistory, done_ranges, read_result
from jarvis_workers.sec.discovery.function_metrics import FunctionMetrics
from jarvis_workers.sec.discovery.functions import FileFunctions, functions_of
from jarvis_workers.sec.discovery.ranking import PlacedFunction
from jarvis_workers.sec.scanner import is_test
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.manifest import Entry, entry_line
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.steps.sec.judge_options import JudgeOptions
from jarvis_workers.store.values import Claimed, Commit, NewJob

if TYPE_CHECKING:
    from sqlmodel import Session

    from jarvis_workers.store.runs import Run

STAGE = "rank"
BLOB = "functions"
NOT_RANKED = "discovery did not rank its functions: "

read_work = BatchWork.decode


def plan_on(run: "Run", _: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job per scanned batch, if functions are to be searched."""
    if not JudgeOptions.of(run).discover:
        return
    for scan, offset, length in done_ranges(earlier.outcomes("scan")):
        yield _job(run.snapshot_id, BatchPayload(offset, length), scan.label, scan.weight)


def load(_: "Session", run: "Run", job: Claimed) -> BatchWork:
    """Return the batch of a job."""
    return work_of(BatchWork, run, job)


def decide(work: BatchWork, resources: Resources) -> Commit:
    """Return a commit with the metrics; test code is left out."""
    with open_snapshot(resources.blobs, work.snapshot) as reader:
        entries = reader.entries(work.offset, work.length)
        todo = {as_text(entry.path): entry for entry in entries if not is_test(entry.path)}
        reader.fetch(todo.values())
        task: Task[Entry, FileFunctions] = Task(
            lambda entry: functions_of(reader.read(entry), shown(entry.path)), list, _from_json
        )
        outcomes = each_file(todo, task, work.limits, careful=work.careful)
    reached = next((at for at, (path, _) in enumerate(todo.items()) if path not in outcomes), len(todo))
    rest = list(todo.values())[reached:]
    gaps = {path: one.reason for path, one in outcomes.items() if isinstance(one, FileNotChecked)}
    ranked = [[path, *found] for path, found in outcomes.items() if isinstance(found, FileFunctions) and any(found)]
    blob = resources.blobs.put(json.dumps(ranked, separators=(",", ":")).encode())
    return Commit(
        files=len(outcomes) - len(gaps),
        size=sum(todo[path].size for path in outcomes),
        not_checked=tuple((from_text(path), NOT_RANKED + reason) for path, reason in gaps.items()),
        blobs=((BLOB, blob),),
        children=(_rest(work, entries, rest),) if rest else (),
    )


def ranked_functions(blobs: Blobs, earlier: StageHistory) -> Iterator[PlacedFunction]:
    """Yield the functions that the jobs of this stage have collected."""
    for path, rows, *_ in _files(blobs, earlier):
        file = shown(from_text(path))
        yield from (PlacedFunction(file, FunctionMetrics.decode(row)) for row in rows)


def lines_outside(blobs: Blobs, earlier: StageHistory) -> int:
    """Return the number of lines of code that are in none of these functions."""
    return sum(sum(counts) for _, _, *counts in _files(blobs, earlier))


def _files(blobs: Blobs, earlier: StageHistory) -> Iterator[Any]:
    for job in earlier.outcomes(STAGE):
        if job.done:
            yield from json.loads(blobs.read(read_result(blobs, job.result).blobs[BLOB]))


def _from_json(row: Sequence[Any]) -> FileFunctions:
    functions, outside = row
    return FileFunctions(list(map(FunctionMetrics.decode, functions)), outside)


def _rest(work: BatchWork, entries: Sequence[Entry], rest: Sequence[Entry]) -> NewJob:
    """Return a job for the files left when the time was up."""
    passed = sum(len(entry_line(entry)) for entry in entries[: entries.index(rest[0])])
    payload = BatchPayload(work.offset + passed, work.length - passed)
    return _job(work.snapshot, payload, rest_label(rest[0].path, len(rest)), sum(entry.size for entry in rest))


def _job(snapshot: str, payload: BatchPayload, label: str, size: int) -> NewJob:
    return batch_job(STAGE, snapshot, payload, label=label, weight=size, made_by=(STAGE,))
