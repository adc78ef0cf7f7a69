"""Batches of files: the work of a child, and the job for a batch, shared by the stages that process files.

A batch that exceeds its time is split between two files, and the remainder becomes a new job.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jarvis_workers.paths import shown
from jarvis_workers.store.values import Claimed, NewJob

if TYPE_CHECKING:
    from jarvis_workers.store.runs import Run

__all__ = ["batch_job", "rest_label", "work_of"]

LABEL_LENGTH = 120


def work_of(run: "Run", job: Claimed, **more: Any) -> dict[str, Any]:
    """Return what a child needs to know; what has failed or died before is done with care."""
    return {
        "snapshot": run.snapshot_id,
        "cache": run.options.get("cache", True),
        "limits": run.options.get("limits", {}),
        "careful": bool(job.crashes or job.attempts),
        **more,
        **json.loads(job.payload),
    }


def batch_job(
    step: str, snapshot: str, place: Mapping[str, Any], *, label: str, weight: int, made_by: Sequence[str | None]
) -> NewJob:
    """Return a job that is known by its place in the snapshot and by all else that decides its results."""
    payload = json.dumps(place)
    named = ":".join(map(str, (snapshot, payload, *made_by)))
    return NewJob(
        step=step,
        queue="scan",
        label=label,
        input_hash=hashlib.sha256(named.encode()).hexdigest(),
        payload=payload,
        weight=weight,
    )


def rest_label(first: bytes, files: int) -> str:
    """Return how the rest of a batch is called; `first` is the path of its first file."""
    return f"{shown(first)[-LABEL_LENGTH:]} … ({files} files, remainder of a slow batch)"
