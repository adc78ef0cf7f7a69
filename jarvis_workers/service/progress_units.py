"""The units of progress displays: the domain's name for the jobs of a stage."""

from jarvis_workers.pipeline.stages import has_pipeline, stages_of
from jarvis_workers.store.values import Run

JOBS = "jobs"


def units_of(run: Run, stage: str) -> str:
    """Return the unit in plural; "jobs" for an unknown stage or kind, such as one of another version."""
    stages = stages_of(run.kind) if has_pipeline(run.kind) else ()
    return next((one.units for one in stages if one.name == stage), JOBS)
