"""Compare the results of two runs that convert a C project."""

from collections.abc import Iterator

from jarvis_workers.c2rust.conversion import compare_conversions
from jarvis_workers.c2rust.report.difference_formats import ConversionSides
from jarvis_workers.c2rust.runs.conversion_results import read_conversion
from jarvis_workers.c2rust.runs.result_files import words_of_run
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.c2rust.stages.pipelines import CONVERTING
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.words import Words


def compare_runs(store: Store, blobs: Blobs, before: Run, after: Run) -> ConversionSides:
    """Compare two runs. Raises UsageError if one of them has not converted a project, or has no result."""
    for run in (before, after):
        if run.kind not in CONVERTING:
            raise UsageError(f"run {run.id} is of kind {run.kind}: it can only be compared with a run of its own kind")
    old, new = (read_conversion(store, blobs, run) for run in (before, after))
    parts = (run_part(store, before), run_part(store, after))
    return ConversionSides(
        parts, (old, new), compare_conversions(old, new), tuple(_notes(before, after, words_of_run(after)))
    )


def _notes(before: Run, after: Run, say: Words) -> Iterator[str]:
    if before.root_raw != after.root_raw:
        yield say("the runs are of different projects: {before}, {after}", before=before.root, after=after.root)
    if before.kind != after.kind:
        yield say("the runs are of different kinds: {before}, {after}", before=before.kind, after=after.kind)
    old, new = (FastOptions.of(run) for run in (before, after))
    if old.proof != new.proof:
        yield say("the runs accept different proofs: {before}, {after}", before=old.proof, after=new.proof)
    if set(old.only) != set(new.only):
        yield say("the runs convert different functions (--only)")
