"""What progress displays call the jobs of a stage, as its domain has it."""

from jarvis_workers.pipeline.stages import has_pipeline, stages_of
from jarvis_workers.store.values import Run

__all__ = ["JOBS", "units_of"]

JOBS = "jobs"


def units_of(run: Run, stage: str) -> str:
    """Return the plural; of a stage or kind that is not known here, such as one of another version, "jobs"."""
    known = stages_of(run.kind) if has_pipeline(run.kind) else ()
    return next((one.units for one in known if one.name == stage), JOBS)
