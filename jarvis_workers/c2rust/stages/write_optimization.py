"""Write the result of an optimization: the report, and the files that it changes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.c2rust.bench.crate_archive import files_of
from jarvis_workers.c2rust.crate_metrics import is_module
from jarvis_workers.c2rust.optimization import PASSES, OptimizeReport
from jarvis_workers.c2rust.stages.improve_files import STEP as IMPROVE
from jarvis_workers.c2rust.stages.optimize_crate import CHANGES, REPORT
from jarvis_workers.c2rust.stages.optimize_crate import STEP as OPTIMIZE
from jarvis_workers.c2rust.stages.optimize_options import OptimizeOptions
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.pipeline.stages import CONTROL_QUEUE
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Claimed, Commit, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

STEP = "report"
# The name of an artifact.
REPORT_FILE = "optimize_report.json"
# The name of the pass of a model.
MODEL = "model"


class OptimizationWork(NamedTuple):
    """The outcomes of the passes, and of the files that a model improved."""

    run: "Run"
    passes: tuple[StageJob, ...]
    files: tuple[StageJob, ...]


class PassesResult(NamedTuple):
    """The report at the end, and after each pass that has run, by its name, an archive of the changed files."""

    report: OptimizeReport
    steps: Sequence[tuple[str, bytes]]


plan = single_job(STEP, CONTROL_QUEUE, "write the report")


def load(session: "Session", run: "Run", _: Claimed | None = None) -> OptimizationWork:
    """Return the outcomes of the passes of a run."""
    return OptimizationWork(run, *(tuple(jobs.outcomes(session, run.id, stage)) for stage in (OPTIMIZE, IMPROVE)))


def decide(work: OptimizationWork, resources: Resources) -> Commit:
    """Return the report and the changed files after the last pass as artifacts."""
    options = OptimizeOptions.of(work.run)
    result = read_passes(resources.blobs, options.passes, len(options.files), work.passes, work.files)
    if not result.steps:
        raise StepFailed(next(iter(result.report.errors), "no pass has run").removeprefix(f"{StepFailed.__name__}: "))
    gaps = tuple((b"", problem) for problem in result.report.errors)
    steps = ((pass_file(name), changes) for name, changes in result.steps)
    return Commit(not_checked=gaps, artifacts=((REPORT_FILE, result.report.model_dump_json(indent=1).encode()), *steps))


def pass_file(name: str) -> str:
    """Return the name of the artifact with the files that differ from those of the crate after a pass."""
    return f"changes_{name}.tar"


def optimized_files(
    blobs: Blobs, files: Mapping[str, bytes], work: OptimizationWork
) -> tuple[dict[str, bytes], OptimizeReport]:
    """Return the files of a crate after the last of all passes, and the report."""
    result = read_passes(blobs, tuple(PASSES), sum(map(is_module, files)), work.passes, work.files)
    return {**files, **(files_of(result.steps[-1][1]) if result.steps else {})}, result.report


def read_passes(
    blobs: Blobs, names: Sequence[str], files: int, passes: Sequence[StageJob], improved: Sequence[StageJob] = ()
) -> PassesResult:
    """Return the result of passes with these names over a number of files, and of the files that a model improved."""
    failed = next((one.reason for one in (*passes, *improved) if one.state != "done" and one.reason), None)
    done, by_model = (
        [read_result(blobs, one.result).blobs for one in outcomes if one.state == "done"]
        for outcomes in (passes, improved)
    )
    steps = [*zip(names, done, strict=False), *((MODEL, one) for one in by_model[-1:])]
    report = OptimizeReport.model_validate_json(blobs.read(steps[-1][1][REPORT])) if steps else OptimizeReport()
    report += OptimizeReport(files_scanned=files, errors=(failed,) if failed else ())
    return PassesResult(report, [(name, blobs.read(one[CHANGES])) for name, one in steps])
