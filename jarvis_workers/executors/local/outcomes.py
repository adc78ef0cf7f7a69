"""The outcomes of jobs of a local executor, and how they are saved in the store."""

from collections.abc import Sequence
from typing import NamedTuple

from jarvis_workers.errors import StoreFull
from jarvis_workers.pipeline.attempt import AttemptOutcome, Died, Done, Failed, Full, Released
from jarvis_workers.pipeline.runner import save
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import crash_attribution, events, jobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed


class JobOutcome(NamedTuple):
    """The outcome of a job; `process` is the child that executed it, "" for the process of the command itself."""

    job: Claimed
    outcome: AttemptOutcome
    process: str = ""


def save_outcomes(store: Store, blobs: Blobs, outcomes: Sequence[JobOutcome]) -> None:
    """Save all outcomes; then raise StoreFull if there was no space for one of the results."""
    commits = [(one.job, one.outcome.commit) for one in outcomes if isinstance(one.outcome, Done)]
    if commits:
        save(store, blobs, commits)
    with store.write() as session:
        jobs.release(session, [one.job for one in outcomes if isinstance(one.outcome, Released | Full)])
        for one in outcomes:
            if isinstance(one.outcome, Failed):
                jobs.fail_attempt(session, one.job, one.outcome.reason)
            elif isinstance(one.outcome, Died):
                recovered = crash_attribution.crash_process(session, one.process, one.outcome.how)
                for run_id, stage, lost in crash_attribution.by_stage(recovered):
                    events.record(session, run_id, "crashed", stage, jobs=lost, how=one.outcome.how)
    for one in outcomes:
        if isinstance(one.outcome, Full):
            raise StoreFull(one.outcome.reason)
