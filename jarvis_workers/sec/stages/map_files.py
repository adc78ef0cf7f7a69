"""Collect the facts of the files of a batch, from which stage `read` groups them.

Test code is left out. Of a file whose functions exceed the limits of their analysis everything but their exposure is
known; a file that exceeds the limits before that is reported.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_workers.paths import as_text, from_text, shown
from jarvis_workers.pipeline.each_file import FileNotChecked, Task, each_file
from jarvis_workers.pipeline.history import (
    BatchPayload,
    BatchWork,
    StageHistory,
    batch_job,
    done_ranges,
    read_result,
    rest_label,
    work_of,
)
from jarvis_workers.sec.reading.file_facts import FileFacts, facts_of, with_exposure
from jarvis_workers.sec.reading.functions import functions_of
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.reading_plan import NOT_READ
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import Entry, Reader, entry_line, open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.languages import is_test
from jarvis_workers.store.values import Claimed, Commit, NewJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

STAGE = "map"
BLOB = "files"


@dataclass(frozen=True, kw_only=True)
class MapWork(BatchWork):
    """A batch of files; `room` are the tokens of the largest piece of a file."""

    room: int


read_work = MapWork.decode


def plan_on(run: "Run", _: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job per scanned batch, if files are to be read."""
    options = JudgeOptions.of(run)
    if options.read is None:
        return
    for scan, offset, length in done_ranges(earlier.outcomes("scan")):
        payload = BatchPayload(offset, length)
        yield _job(run.snapshot_id, options.code_room, payload, scan.label, scan.weight)


def load(_: "Session", run: "Run", job: Claimed) -> MapWork:
    """Return the batch of a job."""
    return work_of(MapWork, run, job, room=JudgeOptions.of(run).code_room)


def decide(work: MapWork, resources: Resources) -> Commit:
    """Return a commit with the facts of each file."""
    with open_snapshot(resources.blobs, work.snapshot) as reader:
        entries = reader.entries(work.offset, work.length)
        todo = {as_text(entry.path): entry for entry in entries if not is_test(entry.path)}
        reader.fetch(todo.values())
        mapper = _Mapper(reader, work.room)
        task: Task[Entry, FileFacts] = Task(mapper.facts, list, FileFacts.decode, mapper.rescue)
        outcomes = each_file(todo, task, work.limits, careful=work.careful)
    reached = next((at for at, (path, _) in enumerate(todo.items()) if path not in outcomes), len(todo))
    rest = list(todo.values())[reached:]
    gaps = {path: one.reason for path, one in outcomes.items() if isinstance(one, FileNotChecked)}
    facts = [one for one in outcomes.values() if isinstance(one, FileFacts)]
    return Commit(
        files=len(facts),
        size=sum(todo[path].size for path in outcomes),
        not_checked=tuple((from_text(path), NOT_READ + reason) for path, reason in gaps.items()),
        blobs=((BLOB, resources.blobs.put(json.dumps(facts, separators=(",", ":")).encode())),),
        children=(_rest(work, entries, rest),) if rest else (),
    )


def mapped_files(blobs: Blobs, earlier: StageHistory) -> list[FileFacts]:
    """Return the facts that the jobs of this stage have collected, in the order of the paths."""
    done = (read_result(blobs, job.result).blobs[BLOB] for job in earlier.outcomes(STAGE) if job.done)
    facts = (FileFacts.decode(row) for blob in done for row in json.loads(blobs.read(blob)))
    return sorted((one for one in facts if one.pieces), key=lambda one: one.pieces[0].path)


class _Mapper:
    """Collects the facts of a file, first those that do not need the analysis of its functions."""

    def __init__(self, reader: Reader, room: int) -> None:
        self._reader, self._room = reader, room
        self._facts: FileFacts | None = None

    def facts(self, entry: Entry) -> FileFacts:
        path, content, self._facts = shown(entry.path), self._reader.read(entry), None
        self._facts = facts_of(path, content, self._room)
        return with_exposure(self._facts, functions_of(content, path))

    def rescue(self, _: str) -> FileFacts | None:
        return self._facts


def _rest(work: MapWork, entries: Sequence[Entry], rest: Sequence[Entry]) -> NewJob:
    """Return a job for the files left when the time was up."""
    passed = sum(len(entry_line(entry)) for entry in entries[: entries.index(rest[0])])
    payload = BatchPayload(work.offset + passed, work.length - passed)
    label, size = rest_label(rest[0].path, len(rest)), sum(entry.size for entry in rest)
    return _job(work.snapshot, work.room, payload, label, size)


def _job(snapshot: str, room: int, payload: BatchPayload, label: str, size: int) -> NewJob:
    return batch_job(STAGE, snapshot, payload, label=label, weight=size, made_by=(STAGE, str(room)))
