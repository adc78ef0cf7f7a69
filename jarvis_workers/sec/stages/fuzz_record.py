"""What jobs have found by fuzzing or beside their findings, and what a report says of each target."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jarvis_workers.paths import plain
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.fuzzing_outcome import FuzzedTarget, FuzzingOutcome
from jarvis_workers.sec.proof.crashes import Crash
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.stages.payloads import FuzzPayload
from jarvis_workers.sec.stages.results import SeenResult, commit_of_proofs, proof_blobs, stored_proof
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import Commit, StageJob

RECORD = "fuzzed"
FAILED, CANCELLED, NOT_REACHED = "its job failed: {}", "its job was cancelled", "not reached before the run ended"
NO_TARGETS = "the search for targets"


def _read_proof(row: Sequence[Any]) -> Proof:
    """Return the proof of a row; it begins with a gid, which is open."""
    _, state, kind, attempts, command, blob, output, stack, reason, sandbox = row
    return Proof(state, kind, attempts, command, (), output, tuple(json.loads(stack)), reason, sandbox, blob)


def _proof_row(proof: Proof) -> Sequence[Any]:
    state, kind, attempts, command, _, output, stack, reason, sandbox, blob, _ = proof
    return 0, state, kind, attempts, command, blob, output, json.dumps(stack), reason, sandbox


@dataclass(frozen=True)
class CrashRecord(JsonRecord):
    """An error with its stored proof, whose gid is open: that of the findings that it `proves`, or of a new one.

    `severity` is that of a new finding.
    """

    candidate: Candidate = field(metadata={"read": lambda row: Candidate(*row)})
    proof: Proof = field(metadata={"read": _read_proof})
    severity: str
    proves: tuple[int, ...] = field(default=(), metadata={"read": tuple})


@dataclass(frozen=True)
class FuzzRecord(JsonRecord):
    """What a job reports of targets, and the errors that it found."""

    targets: tuple[FuzzedTarget, ...] = field(
        default=(), metadata={"read": lambda rows: tuple(FuzzedTarget(*row) for row in rows)}
    )
    crashes: tuple[CrashRecord, ...] = field(
        default=(), metadata={"read": lambda rows: tuple(CrashRecord.decode(row) for row in rows)}
    )

    def to_blob(self, blobs: Blobs) -> tuple[str, str]:
        """Put the record into the blob store; return it as one of the blobs of a commit."""
        row = {"targets": self.targets, "crashes": [_row(one) for one in self.crashes]}
        return RECORD, blobs.put(json.dumps(row).encode())


def commit_of(record: FuzzRecord, blobs: Blobs) -> Commit:
    """Return the commit of a record; errors that prove no finding are candidates."""
    own = tuple(one.candidate for one in record.crashes if not one.proves)
    return Commit(
        results=(SeenResult(own),) if own else (),
        blobs=(record.to_blob(blobs), *proof_blobs(one.proof for one in record.crashes)),
    )


def commit_of_attempts(
    proofs: Iterable[tuple[int, Proof]], crashes: Iterable[Crash], sandbox: str, blobs: Blobs
) -> Commit:
    """Return the commit of the proofs of a conversation, by gid, and of the errors that it has proved beside them."""
    proved = commit_of_proofs(proofs, sandbox, blobs)
    rows = ((one, stored_proof(one.proof._replace(attempts=1), sandbox, blobs)) for one in crashes)
    found = tuple(CrashRecord(one.candidate, row, one.severity) for one, row in rows)
    beside = commit_of(FuzzRecord(crashes=found), blobs) if found else Commit()
    return Commit(results=(*proved.results, *beside.results), blobs=(*proved.blobs, *beside.blobs))


def _row(crash: CrashRecord) -> dict[str, object]:
    return {
        "candidate": tuple(crash.candidate),
        "proof": _proof_row(crash.proof),
        "severity": crash.severity,
        "proves": crash.proves,
    }


def records(blobs: Blobs, jobs: Sequence[StageJob]) -> Iterator[FuzzRecord]:
    """Yield what the finished jobs have found."""
    for job in jobs:
        if job.done and (blob := read_result(blobs, job.result).blobs.get(RECORD)):
            yield FuzzRecord.from_json(blobs.read(blob).decode())


def fuzzing_outcome(blobs: Blobs, jobs: Sequence[StageJob]) -> FuzzingOutcome | None:
    """Return what was fuzzed, and what was not and why; None if the run fuzzes nothing."""
    if not jobs:
        return None
    targets = [target for record in records(blobs, jobs) for target in record.targets]
    targets += [FuzzedTarget(_name(job), reason=_why(job)) for job in jobs if not job.done]
    return FuzzingOutcome(tuple(sorted(targets)))


def _name(job: StageJob) -> str:
    return plain(FuzzPayload.from_json(job.payload).target) or NO_TARGETS


def _why(job: StageJob) -> str:
    return {"failed": FAILED.format(job.reason), "cancelled": CANCELLED}.get(job.state, NOT_REACHED)
