"""Batches of files: the payload and work of batch jobs, shared by the stages that process files.

A batch that exceeds its time limit stops between two files, and the remainder becomes a new job.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from jarvis_workers.paths import shown
from jarvis_workers.pipeline.each_file import FileLimits
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.pipeline.options import RunOptions, read_limits
from jarvis_workers.store.values import Claimed, NewJob

if TYPE_CHECKING:
    from jarvis_workers.store.values import Run

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
