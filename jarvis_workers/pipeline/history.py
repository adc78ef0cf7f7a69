"""The stage history: the results of the jobs of earlier stages, which are the input of a stage's plan."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from jarvis_workers.paths import shown
from jarvis_workers.pipeline.each_file import FileLimits
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.pipeline.options import RunOptions, read_limits
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import Claimed, Commit, NewJob, StageJob

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run


# Batches of files: the payload and work of batch jobs, shared by the stages that process files.

LABEL_LENGTH = 120


@dataclass(frozen=True)
class BatchPayload(JsonRecord):
    """The byte range of the snapshot's manifest that a job processes."""

    offset: int
    length: int


@dataclass(frozen=True, kw_only=True)
class BatchWork(BatchPayload):
    """The input of a batch job in a child process; `careful` is set after a failed attempt or a crash.

    `rules` is the blob of the run's rules, None for the built-in ones; `build_flags` is that of macros and directories.
    """

    snapshot: str
    limits: FileLimits = field(default=FileLimits(), metadata={"read": read_limits})
    cache: bool = True
    careful: bool = False
    rules: str | None = None
    build_flags: str | None = None


W = TypeVar("W", bound=BatchWork)


def work_of(kind: type[W], run: "Run", job: Claimed, **more: Any) -> W:
    """Return the work of a job, made from the options of the run, `more`, and the job's payload."""
    options, careful = RunOptions.of(run), bool(job.crashes or job.attempts)
    shared = {"snapshot": run.snapshot_id, "cache": options.cache, "limits": options.limits, "careful": careful}
    return kind.decode({**shared, **more, **json.loads(job.payload)})


def batch_job(
    step: str, snapshot: str, payload: BatchPayload, *, label: str, weight: int, made_by: Sequence[str | None]
) -> NewJob:
    """Return a batch job; its input hash covers all that determines its results: the range, snapshot and `made_by`."""
    content = payload.to_json()
    named = ":".join(map(str, (snapshot, content, *made_by)))
    return NewJob(
        step=step,
        queue="scan",
        label=label,
        input_hash=hashlib.sha256(named.encode()).hexdigest(),
        payload=content,
        weight=weight,
    )


def rest_label(first: bytes, files: int) -> str:
    """Return the label of the remainder of a batch; `first` is the path of its first file."""
    return f"{shown(first)[-LABEL_LENGTH:]} … ({files} files, remainder of a slow batch)"


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
