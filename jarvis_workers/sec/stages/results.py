"""The results of the jobs of a scan: candidates, clusters and verdicts."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

from jarvis_workers.paths import as_text, from_text
from jarvis_workers.sec.assessment import EvidenceQuote, ReproScript, Verdict
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.domain_results import register_result
from jarvis_workers.store.values import Commit, Meaning, NewCluster, Spot

WRITERS = "jarvis_workers.sec.stages.result_writers"


class CandidateResult(NamedTuple):
    """The candidates of a job; `meanings` describes the rules that are not built in."""

    spots: tuple[Spot, ...] = ()
    meanings: tuple[Meaning, ...] = ()

    def counts(self) -> Mapping[str, int]:
        """Return the number of candidates."""
        return {"findings": len(self.spots)}

    def encode(self) -> Any:
        """Return the JSON form, in which paths are text."""
        return [(as_text(spot.path), *spot[1:]) for spot in self.spots], self.meanings

    @classmethod
    def decode(cls, content: Sequence[Any]) -> Self:
        """Return the result that `encode` encoded."""
        spots, meanings = content
        return cls(
            tuple(Spot(from_text(path), *rest) for path, *rest in spots),
            tuple(Meaning(*meaning) for meaning in meanings),
        )


class ClusterResult(NamedTuple):
    """The clusters of a job."""

    clusters: tuple[NewCluster, ...] = ()

    def counts(self) -> Mapping[str, int]:
        """Return the number of clusters."""
        return {"clusters": len(self.clusters)}

    def encode(self) -> Any:
        """Return the JSON form, in which paths are text."""
        return [(as_text(cluster.file), *cluster[1:]) for cluster in self.clusters]

    @classmethod
    def decode(cls, content: Sequence[Any]) -> Self:
        """Return the result that `encode` encoded."""
        return cls(tuple(NewCluster(from_text(file), at, says, tuple(gids)) for file, at, says, gids in content))


class VerdictResult(NamedTuple):
    """The verdicts of a job."""

    verdicts: tuple[Verdict, ...] = ()

    def counts(self) -> Mapping[str, int]:
        """Return the number of verdicts."""
        return {"verdicts": len(self.verdicts)}

    def encode(self) -> Any:
        """Return the JSON form."""
        return self.verdicts

    @classmethod
    def decode(cls, content: Sequence[Any]) -> Self:
        """Return the result that `encode` encoded."""
        return cls(tuple(map(_verdict, content)))


class SeenResult(NamedTuple):
    """Candidates that a model has seen beside those of its job."""

    seen: tuple[Candidate, ...] = ()

    def counts(self) -> Mapping[str, int]:
        """Return no numbers: which of them stay is decided later."""
        return {}

    def encode(self) -> Any:
        """Return the JSON form."""
        return self.seen

    @classmethod
    def decode(cls, content: Sequence[Any]) -> Self:
        """Return the result that `encode` encoded."""
        return cls(tuple(Candidate(*candidate) for candidate in content))


class ProofResult(NamedTuple):
    """The stored proofs of a job, by the gids of their findings."""

    proofs: Mapping[int, Proof] = {}

    def counts(self) -> Mapping[str, int]:
        """Return the number of proofs."""
        return {"proofs": sum(proof.state == "proved" for proof in self.proofs.values())}

    def encode(self) -> Any:
        """Return the JSON form."""
        return list(self.proofs.items())

    @classmethod
    def decode(cls, content: Sequence[Any]) -> Self:
        """Return the result that `encode` encoded."""
        return cls({gid: _proof(row) for gid, row in content})


def _verdict(row: Sequence[Any]) -> Verdict:
    verdict = Verdict(*row)
    quotes, scripts = (EvidenceQuote(*one) for one in verdict.evidence), (ReproScript(*one) for one in verdict.commands)
    return verdict._replace(evidence=tuple(quotes), commands=tuple(scripts))


def _proof(row: Sequence[Any]) -> Proof:
    proof = Proof(*row)
    return proof._replace(sources=(), stack=tuple(proof.stack))


register_result("sec.seen", SeenResult, writer=f"{WRITERS}:write_seen")
register_result("sec.candidates", CandidateResult, writer=f"{WRITERS}:write_candidates")
register_result("sec.clusters", ClusterResult, writer=f"{WRITERS}:write_clusters")
register_result("sec.verdicts", VerdictResult, writer=f"{WRITERS}:write_verdicts")
register_result("sec.proofs", ProofResult, writer=f"{WRITERS}:write_proofs")


def candidates_of(commit: Commit) -> Iterator[CandidateResult]:
    """Yield the candidates among the results of a commit."""
    return (result for result in commit.results if isinstance(result, CandidateResult))


def spots_of(commit: Commit) -> tuple[Spot, ...]:
    """Return all candidates of a job."""
    return tuple(spot for result in candidates_of(commit) for spot in result.spots)


# Proofs as they are saved: the files of their attempts in blobs, the others in rows.

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
