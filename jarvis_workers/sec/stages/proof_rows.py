"""Proofs as they are saved: the files of their attempts in blobs, the others in rows."""

import json
from collections.abc import Iterable

from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.stages.results import ProofResult
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import Commit

BLOB = "proof"


def commit_of_proofs(proofs: Iterable[tuple[int, Proof]], sandbox: str, blobs: Blobs) -> Commit:
    """Return a commit with proofs by gid; writes the files of their attempts."""
    rows = {gid: stored_proof(proof, sandbox, blobs) for gid, proof in proofs}
    return Commit(results=(ProofResult(rows),) if rows else (), blobs=proof_blobs(rows.values()))


def proof_blobs(proofs: Iterable[Proof]) -> tuple[tuple[str, str], ...]:
    """Return the files of proofs as blobs of a commit."""
    return tuple((BLOB, one) for one in dict.fromkeys(proof.blob for proof in proofs if proof.blob))


def stored_proof(proof: Proof, sandbox: str, blobs: Blobs) -> Proof:
    """Return a proof that ran in a tier of the sandbox, with the blob of its attempt, which is written."""
    blob = blobs.put(json.dumps(proof.attempt.to_json()).encode()) if proof.attempt else None
    return proof._replace(sandbox=sandbox, blob=blob, attempt=None)
