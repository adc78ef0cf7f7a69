"""Log events of a job, one per state transition from claim to end, the same for every kind of pool."""

from jarvis_workers import telemetry
from jarvis_workers.store.domain_results import count_results
from jarvis_workers.store.values import Claimed, Commit, RecoveredJob
from jarvis_workers.telemetry import about


def refused(job_id: int, process: str) -> None:
    """The claim failed: another process has the job, or its run is not running."""
    telemetry.debug("refused", job=job_id, process=process)


def claimed(job: Claimed, process: str) -> None:
    """A process has claimed it."""
    telemetry.info("claimed", **about(job), fence=job.fence, crashes=job.crashes, process=process)


def saved(job: Claimed, commit: Commit, seconds: float, *, accepted: bool) -> None:
    """It is done; its results are saved if the lease was still held."""
    if accepted:
        counts = {"files": commit.files} | count_results(commit.results)
        telemetry.info("committed", **about(job), fence=job.fence, seconds=seconds, **counts)
    else:
        lost(job)


def failed(job: Claimed, reason: str, seconds: float, *, accepted: bool) -> None:
    """Its step failed."""
    if accepted:
        telemetry.warning("failed", **about(job), fence=job.fence, seconds=seconds, reason=reason)
    else:
        lost(job)


def paused(job: Claimed, reason: str) -> None:
    """Its run is paused: there is no disk space for its result."""
    telemetry.warning("paused", **about(job), fence=job.fence, reason=reason)


def released(job: Claimed, *, accepted: bool) -> None:
    """It was released without a crash count."""
    if accepted:
        telemetry.info("released", **about(job), fence=job.fence)
    else:
        lost(job)


def lost(job: Claimed) -> None:
    """Its lease expired or was revoked: the result is not saved."""
    telemetry.warning("lost", **about(job), fence=job.fence)


def crashed(job: RecoveredJob, why: str) -> None:
    """Its process died."""
    telemetry.warning("crashed", **about(job), process=job.process, given_up=job.given_up, why=why)
