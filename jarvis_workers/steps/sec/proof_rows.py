"""The rows of proofs, with their files in blobs."""

import json
from collections.abc import Iterable, Sequence

from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.steps.sec.results import ProofResult
from jarvis_workers.store.values import Commit, NewProof

BLOB = "proof"


def commit_of_proofs(proofs: Iterable[tuple[int, Proof]], sandbox: str, blobs: Blobs) -> Commit:
    """Return a commit with proofs by gid; writes the files of their attempts."""
    rows = tuple(row_of(gid, proof, sandbox, blobs) for gid, proof in proofs)
    return Commit(results=(ProofResult(rows),) if rows else (), blobs=_blobs(rows))


def _blobs(rows: Sequence[NewProof]) -> tuple[tuple[str, str], ...]:
    return tuple((BLOB, one) for one in dict.fromkeys(row.files for row in rows if row.files))


def row_of(gid: int, proof: Proof, sandbox: str, blobs: Blobs) -> NewProof:
    """Return the row of a proof; writes the files of its attempt."""
    return NewProof(
        gid=gid,
        state=proof.state,
        kind=proof.kind,
        attempts=proof.attempts,
        command=proof.command,
        files=blobs.put(json.dumps(proof.attempt.to_json()).encode()) if proof.attempt else None,
        output=proof.output,
        stack=json.dumps(proof.stack),
        reason=proof.reason,
        sandbox=sandbox,
    )
