"""Which functions of a run libraries replace: decided by its own stages, or stated by the files of the project."""

from collections.abc import Iterable

from jarvis_workers.c2rust.library_plan import LibraryPlan
from jarvis_workers.pipeline.history import StageHistory, read_result
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.steps.c2rust.fast_options import FastOptions

STEP = "prune"
# The name of the blob.
LIBRARIES = "libraries"


def libraries_in(options: FastOptions, pruning: Iterable[str], blobs: Blobs) -> str:
    """Return the blob of a run's LibraryPlan, from its jobs of stage `prune` (their results) or its options.

    Returns "" if it has none.
    """
    found = (read_result(blobs, result).blobs.get(LIBRARIES) for result in pruning)
    return next((name for name in found if name), options.libraries)


def read_libraries(blobs: Blobs, name: str) -> LibraryPlan:
    """Return the plan in a blob; an empty one without a blob."""
    return LibraryPlan.model_validate_json(blobs.read(name)) if name else LibraryPlan()


def unneeded_functions(options: FastOptions, earlier: StageHistory, blobs: Blobs) -> frozenset[str]:
    """Return the keys of the functions about which no model is asked: only replaced functions need them, or no root."""
    pruning = [one.result for one in earlier.outcomes(STEP) if one.result]
    libraries = read_libraries(blobs, libraries_in(options, pruning, blobs))
    return libraries.aside.union(libraries.pruned)
