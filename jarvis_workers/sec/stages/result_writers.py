"""Insert the results of a scan's jobs, in the transaction of their commit.

This module is separate from `results`, which child processes import without the database libraries.
"""

from typing import TYPE_CHECKING

from jarvis_workers.paths import from_shown
from jarvis_workers.sec.stages.results import CandidateResult, ClusterResult, ProofResult, SeenResult, VerdictResult
from jarvis_workers.sec.store import candidates, clusters, proofs, verdicts

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


def write_candidates(session: "Session", run_id: str, job_id: int, result: CandidateResult) -> None:
    """Insert the candidates of a job."""
    candidates.insert(session, run_id, job_id, result.spots, meanings=result.meanings)


def write_clusters(session: "Session", run_id: str, job_id: int, result: ClusterResult) -> None:
    """Insert the clusters of a job."""
    clusters.insert(session, run_id, job_id, result.clusters)


def write_seen(session: "Session", run_id: str, job_id: int, result: SeenResult) -> None:
    """Insert the candidates that a model has seen."""
    candidates.insert_seen(session, run_id, job_id, [(from_shown(one.file), one) for one in result.seen])


def write_verdicts(session: "Session", run_id: str, job_id: int, result: VerdictResult) -> None:
    """Insert the verdicts of a job."""
    verdicts.insert(session, run_id, job_id, result.verdicts)


def write_proofs(session: "Session", run_id: str, job_id: int, result: ProofResult) -> None:
    """Insert the proofs of a job."""
    proofs.insert(session, run_id, job_id, result.proofs)
