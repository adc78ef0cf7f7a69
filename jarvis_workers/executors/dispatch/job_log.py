"""Log events of jobs: one per state transition from claim to end, the same for every kind of pool."""

from jarvis_workers import telemetry
from jarvis_workers.store.domain_results import count_results
from jarvis_workers.store.values import Claimed, Commit, RecoveredJob
from jarvis_workers.telemetry import about


def refused(job_id: int, process: str) -> None:
    """Log a rejected claim: another process has the job, or its run is not running."""
    telemetry.debug("refused", job=job_id, process=process)


def claimed(job: Claimed, process: str) -> None:
    """Log that a process has claimed a job."""
    telemetry.info("claimed", **about(job), fence=job.fence, crashes=job.crashes, process=process)


def saved(job: Claimed, commit: Commit, seconds: float, *, accepted: bool) -> None:
    """Log the end of a job, whose results are saved only if the lease was still valid (`accepted`)."""
    if accepted:
        counts = {"files": commit.files} | count_results(commit.results)
        telemetry.info("committed", **about(job), fence=job.fence, seconds=seconds, **counts)
    else:
        lost(job)


def failed(job: Claimed, reason: str, seconds: float, *, accepted: bool) -> None:
    """Log a failed attempt."""
    if accepted:
        telemetry.warning("failed", **about(job), fence=job.fence, seconds=seconds, reason=reason)
    else:
        lost(job)


def paused(job: Claimed, reason: str) -> None:
    """Log that the run is paused, because there is no disk space for the result of a job."""
    telemetry.warning("paused", **about(job), fence=job.fence, reason=reason)


def released(job: Claimed, *, accepted: bool) -> None:
    """Log that a job was released without a crash count."""
    if accepted:
        telemetry.info("released", **about(job), fence=job.fence)
    else:
        lost(job)


def outage(says: str) -> None:
    """Log that jobs of this process are released because of an outage of the blob store or of this machine."""
    telemetry.warning("outage", says=says)


def released_strays(jobs: int, process: str) -> None:
    """Log that jobs were released that the store assigned to a process, but that it does not execute."""
    if jobs:
        telemetry.warning("released", jobs=jobs, process=process, why="the process does not execute them")


def lost(job: Claimed) -> None:
    """Log that a lease expired or was revoked, so that the result of the job is not saved."""
    telemetry.warning("lost", **about(job), fence=job.fence)


def crashed(job: RecoveredJob, why: str) -> None:
    """Log that the process of a job died."""
    telemetry.warning("crashed", **about(job), process=job.process, given_up=job.given_up, why=why)
