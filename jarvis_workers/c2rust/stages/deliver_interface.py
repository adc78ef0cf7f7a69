"""Write the results of a given interface with its bodies as artifacts: the result and the crate."""

from typing import TYPE_CHECKING

from jarvis_workers.c2rust.bench.crate_archive import CRATE
from jarvis_workers.c2rust.stages.merge_interface import RESULT
from jarvis_workers.c2rust.stages.merge_interface import STEP as MERGE
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.pipeline.stages import CONTROL_QUEUE
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Claimed, Commit, Run, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

STEP = "report"

plan = single_job(STEP, CONTROL_QUEUE, "write the crate")


def load(session: "Session", run: Run, _: Claimed) -> StageJob:
    """Return the job that merged the bodies."""
    return jobs.outcomes(session, run.id, MERGE)[0]


def decide(work: StageJob, resources: Resources) -> Commit:
    """Return the result and the crate as artifacts."""
    found = read_result(resources.blobs, work.result).blobs
    if RESULT not in found:
        raise StepFailed(work.reason or "the bodies were not merged")
    return Commit(artifacts=tuple((name, resources.blobs.read(found[name])) for name in (RESULT, CRATE)))
