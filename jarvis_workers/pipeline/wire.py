"""The wire format between a child and its parent: the work of a job and its outcome, each as one line of JSON.

Paths are bytes; on the wire they are text with surrogate escapes, which JSON encodes in ASCII.
"""

import json
from typing import TYPE_CHECKING, Any

from jarvis_workers.paths import as_text, from_text
from jarvis_workers.pipeline.attempt import OUTAGES, AttemptOutcome, Done, Failed, Full, Released
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.store.domain_results import decode_results, encode_results
from jarvis_workers.store.values import Commit, NewJob

if TYPE_CHECKING:
    from jarvis_workers.pipeline.stages import Step


def encode_outcome(outcome: AttemptOutcome) -> dict[str, Any]:
    """Encode the outcome of a job in a child for JSON; raises ValueError for outcomes that a child cannot have."""
    match outcome:
        case Done(commit):
            return {"commit": encode_commit(commit)}
        case Full(reason):
            return {"full": reason}
        case Failed(reason):
            return {"error": reason}
        case Released(error) if isinstance(error, OUTAGES):
            return {"outage": type(error).__name__, "reason": str(error)}
    raise ValueError(f"invalid outcome of a child process: {outcome}")


def decode_outcome(fields: dict[str, Any]) -> AttemptOutcome:
    """Decode an outcome encoded by `encode_outcome`; `fields` also contains the CPU seconds of the job."""
    if "full" in fields:
        return Full(fields["full"])
    if "error" in fields:
        return Failed(fields["error"])
    if "outage" in fields:
        kind = next(kind for kind in OUTAGES if kind.__name__ == fields["outage"])
        return Released(kind(fields["reason"]))
    return Done(decode_commit(fields["commit"], fields["cpu_seconds"]))


def encode_commit(commit: Commit) -> dict[str, Any]:
    """Encode the commit of a child for JSON; commits of children have no artifacts."""
    return {
        "files": commit.files,
        "size": commit.size,
        "cached": commit.cached,
        **({"results": encode_results(commit.results)} if commit.results else {}),
        "not_checked": [(as_text(path), reason) for path, reason in commit.not_checked],
        **({"remarks": [(as_text(path), *remark) for path, *remark in commit.remarks]} if commit.remarks else {}),
        **({"profile": commit.profile} if commit.profile else {}),
        **({"blobs": commit.blobs} if commit.blobs else {}),
        **({"children": [job._asdict() for job in commit.children]} if commit.children else {}),
    }


def decode_commit(fields: dict[str, Any], cpu_seconds: float) -> Commit:
    """Decode a commit encoded by `encode_commit`."""
    return Commit(
        files=fields["files"],
        size=fields["size"],
        cached=fields["cached"],
        cpu_seconds=cpu_seconds,
        results=decode_results(fields.get("results", ())),
        not_checked=tuple((from_text(path), reason) for path, reason in fields["not_checked"]),
        remarks=tuple((from_text(path), *remark) for path, *remark in fields.get("remarks", ())),
        profile=fields.get("profile"),
        blobs=tuple((name, blob) for name, blob in fields.get("blobs", ())),
        children=tuple(NewJob(**job) for job in fields.get("children", ())),
    )


def decode_work(step: "Step", content: Any) -> Any:
    """Decode the work that a step's `load` returned in the parent."""
    read = getattr(step, "read_work", None)
    return read(content) if read else content


def to_line(message: dict[str, Any]) -> bytes:
    """Encode a message as one line of JSON, without the newline."""
    return json.dumps(message, separators=(",", ":"), default=JsonRecord.encode).encode("ascii")
