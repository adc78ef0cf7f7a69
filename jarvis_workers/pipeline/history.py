"""The stage history: the results of the jobs of earlier stages, which are the input of a stage's plan."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from jarvis_workers.paths import shown
from jarvis_workers.pipeline.batches import BatchPayload
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import Commit, StageJob

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from jarvis_workers.store.session import Session

# The reason for a partly scanned file contains these words.
PARTLY = "checked only"


class StageHistory(NamedTuple):
    """Access to the results of earlier stages.

    `outcomes` returns the jobs of a stage with their results; `put` stores a blob that the jobs of this stage share,
    and returns its name; `read` opens a read-only session for the tables of the plan's domain.
    """

    outcomes: Callable[[str], list[StageJob]]
    put: Callable[[bytes], str]
    read: "Callable[[], AbstractContextManager[Session]]"


class JobResult(NamedTuple):
    """The part of a commit that is saved alongside its counts: pairs of path and reason, remarks, and names of blobs.

    Paths are in their display form.
    """

    not_checked: Sequence[Sequence[str]] = ()
    remarks: Sequence[Sequence[Any]] = ()
    profile: str | None = None
    blobs: Mapping[str, str] = {}


def result_of(commit: Commit) -> bytes:
    """Encode the JobResult of a commit for `read_result`; empty if there is nothing to save."""
    if not (commit.not_checked or commit.remarks or commit.profile or commit.blobs):
        return b""
    not_checked = [[shown(path), reason] for path, reason in commit.not_checked]
    remarks = [[shown(path), *fields] for path, *fields in commit.remarks]
    fields = {"not_checked": not_checked, "remarks": remarks, "profile": commit.profile}
    return json.dumps(fields | dict(commit.blobs)).encode()


def read_result(blobs: Blobs, result: str | None) -> JobResult:
    """Decode a JobResult from a row, or from the blob that the row refers to."""
    fields: dict[str, Any] = json.loads(result) if result else {}
    fields = json.loads(blobs.read(fields["blob"])) if "blob" in fields else fields
    own = {name: fields.pop(name) for name in JobResult._fields if name in fields}
    return JobResult(**own, blobs=fields)


def range_of(job: StageJob) -> tuple[int, int]:
    """Return the offset and length in bytes of the range of the manifest for which a job was planned."""
    payload = BatchPayload.from_json(job.payload)
    return payload.offset, payload.length


def unscanned(blobs: Blobs, scan: StageJob) -> frozenset[str]:
    """Return the display paths of the files of a batch that were not scanned at all."""
    gaps = read_result(blobs, scan.result).not_checked
    return frozenset(path for path, reason in gaps if PARTLY not in reason)


def done_ranges(jobs: Sequence[StageJob]) -> Iterator[tuple[StageJob, int, int]]:
    """Yield the finished jobs, each with the offset and length in bytes that it processed, without its remainder."""
    placed = sorted((*range_of(job), number) for number, job in enumerate(jobs))
    for place, (offset, length, number) in enumerate(placed, 1):
        end = min([offset + length, *(following for following, _, _ in placed[place : place + 1])])
        if jobs[number].state == "done":
            yield jobs[number], offset, end - offset
