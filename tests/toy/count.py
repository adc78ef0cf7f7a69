"""Count the lines of a batch of files; files with a zero byte are not text and are not counted."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jarvis_workers.pipeline.history import BatchPayload, BatchWork, batch_job, work_of
from jarvis_workers.pipeline.options import RunOptions
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run
from tests.toy import LineCounts

if TYPE_CHECKING:
    from sqlmodel import Session


read_work = BatchWork.decode


def plan(run: Run, blobs: Blobs) -> Iterator[NewJob]:
    options = RunOptions.of(run)
    with open_snapshot(blobs, run.snapshot_id) as reader:
        for batch in reader.batches(options.batch_files, options.batch_bytes):
            payload = BatchPayload(batch.offset, batch.length)
            yield batch_job("count", run.snapshot_id, payload, label=batch.label, weight=batch.bytes, made_by=())


def load(_: "Session", run: Run, job: Claimed) -> BatchWork:
    return work_of(BatchWork, run, job)


def decide(work: BatchWork, resources: Resources) -> Commit:
    with open_snapshot(resources.blobs, work.snapshot) as reader:
        files = [(entry.path, reader.read(entry)) for entry in reader.entries(work.offset, work.length)]
    counted = tuple((path, content.count(b"\n")) for path, content in files if b"\0" not in content)
    lost = tuple((path, "it is not text") for path, content in files if b"\0" in content)
    size = sum(len(content) for _, content in files)
    return Commit(files=len(counted), size=size, results=(LineCounts(counted),), not_checked=lost)
