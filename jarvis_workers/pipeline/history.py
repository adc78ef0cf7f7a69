"""The stage history: the results of the earlier stages' jobs, input of a stage's plan."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from jarvis_workers.paths import shown
from jarvis_workers.pipeline.batches import BatchPayload
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import Commit, StageJob

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from sqlmodel import Session

# By these words a scan says that it has seen some of a file.
PARTLY = "checked only as far as line"


class StageHistory(NamedTuple):
    """`outcomes` says what became of the jobs of a stage; `put` keeps what the jobs of this one share.

    `read` opens a session that only reads, for what the plan's own domain has in the store.
    """

    outcomes: Callable[[str], list[StageJob]]
    put: Callable[[bytes], str]
    read: "Callable[[], AbstractContextManager[Session]]"


class JobResult(NamedTuple):
    """What is kept of a commit beside its numbers: pairs of path and reason, remarks as a commit has them, but with
    paths as they are shown, and names of blobs."""

    not_checked: Sequence[Sequence[str]] = ()
    remarks: Sequence[Sequence[Any]] = ()
    profile: str | None = None
    blobs: Mapping[str, str] = {}


def result_of(commit: Commit) -> bytes:
    """Return what is kept of a commit beside its numbers, as `read_result` reads it; empty if there is nothing."""
    if not (commit.not_checked or commit.remarks or commit.profile or commit.blobs):
        return b""
    not_checked = [[shown(path), reason] for path, reason in commit.not_checked]
    remarks = [[shown(path), *said] for path, *said in commit.remarks]
    said = {"not_checked": not_checked, "remarks": remarks, "profile": commit.profile}
    return json.dumps(said | dict(commit.blobs)).encode()


def read_result(blobs: Blobs, result: str | None) -> JobResult:
    """Return what was kept beside a job's numbers."""
    said: dict[str, Any] = json.loads(result) if result else {}
    said = json.loads(blobs.read(said["blob"])) if "blob" in said else said
    own = {name: said.pop(name) for name in JobResult._fields if name in said}
    return JobResult(**own, blobs=said)


def range_of(job: StageJob) -> tuple[int, int]:
    """Return offset and length of the part of the manifest that a job was planned for."""
    payload = BatchPayload.from_json(job.payload)
    return payload.offset, payload.length


def unscanned(blobs: Blobs, scan: StageJob) -> frozenset[str]:
    """Return the files of a batch of which a scan has seen nothing, as they are shown."""
    gaps = read_result(blobs, scan.result).not_checked
    return frozenset(path for path, reason in gaps if PARTLY not in reason)


def done_ranges(jobs: Sequence[StageJob]) -> Iterator[tuple[StageJob, int, int]]:
    """Yield the jobs that are done with their own offset and length, without what they left to another job."""
    placed = sorted((*range_of(job), number) for number, job in enumerate(jobs))
    for place, (offset, length, number) in enumerate(placed, 1):
        end = min([offset + length, *(following for following, _, _ in placed[place : place + 1])])
        if jobs[number].state == "done":
            yield jobs[number], offset, end - offset
