"""Write the results of a conversion: the body of its report, the page, and the user's crate as an archive."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.builds.compile_commands import decode_commands
from jarvis_workers.c2rust.bench.crate_archive import CRATE, files_of, tar_of
from jarvis_workers.c2rust.conversion import Conversion, encode_conversion, is_unproven
from jarvis_workers.c2rust.crate_metrics import crate_metrics
from jarvis_workers.c2rust.stages.conversion_page import conversion_page
from jarvis_workers.c2rust.stages.final_bodies import STAGES as TRANSLATING
from jarvis_workers.c2rust.stages.final_bodies import Translations
from jarvis_workers.c2rust.stages.merge_bodies import STEP as MERGE
from jarvis_workers.c2rust.stages.merge_bodies import read_merged
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.c2rust.stages.rule_findings import rule_findings
from jarvis_workers.c2rust.stages.skeleton import SKELETON, read_skeleton
from jarvis_workers.c2rust.stages.unit_batches import SYMBOLS_STAGE, unit_gaps
from jarvis_workers.c2rust.stages.write_optimization import REPORT_FILE, OptimizationWork, optimized_files
from jarvis_workers.c2rust.stages.write_optimization import load as load_optimization
from jarvis_workers.c2rust.store import symbols
from jarvis_workers.c2rust.symbol import SymbolGraph
from jarvis_workers.paths import from_shown, shown
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.pipeline.stages import CONTROL_QUEUE
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Claimed, Commit, Run, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

IMPROVED = "the model improved {}: the tests of the crate pass, the gates were not run again"
# The names of the artifacts.
CONVERSION, PAGE, PLANNED = "conversion", "report.html", "planned"
STEP = "report"


class ConversionWork(NamedTuple):
    """The data from the store: the graph, and the jobs of earlier stages."""

    run: Run
    graph: SymbolGraph
    batches: tuple[StageJob, ...]
    skeleton: tuple[StageJob, ...]
    merge: tuple[StageJob, ...]
    optimization: OptimizationWork
    translations: Translations = Translations()


plan = single_job(STEP, CONTROL_QUEUE, "write the report")


def load(session: "Session", run: Run, _: Claimed | None = None) -> ConversionWork:
    """Return the data for the report."""
    source = FastOptions.of(run).paused_run or run.id
    batches, skeleton = (tuple(jobs.outcomes(session, source, stage)) for stage in (SYMBOLS_STAGE, SKELETON))
    merge, optimization = tuple(jobs.outcomes(session, run.id, MERGE)), load_optimization(session, run)
    translations = Translations.of(*(jobs.outcomes(session, source, stage) for stage in TRANSLATING))
    return ConversionWork(run, symbols.read(session, source), batches, skeleton, merge, optimization, translations)


def decide(work: ConversionWork, resources: Resources) -> Commit:
    """Return the body, the page and the crate as artifacts."""
    blobs = resources.blobs
    skeleton = read_skeleton(blobs, work.skeleton)
    merged, crate = read_merged(blobs, work.merge)
    conversion = _conversion(merged, work, blobs)
    optimized: tuple[tuple[str, bytes], ...] = ()
    if work.optimization.passes:
        files, report = optimized_files(blobs, files_of(crate), work.optimization)
        warnings = (*conversion.warnings, *map(IMPROVED.format, report.files_improved))
        crate = tar_of(files)
        conversion = replace(conversion, metrics=crate_metrics(files), clippy=None, warnings=warnings)
        optimized = ((REPORT_FILE, report.model_dump_json(indent=1).encode()),)
    sources = {one.file for one in conversion.functions}
    found = rule_findings(blobs, work.run.snapshot_id, sources, files_of(crate))
    warnings = (*conversion.warnings, *found.problems)
    # Without findings, "none" is only true if everything was scanned.
    counts = found.counts if found.counts or not found.problems else None
    conversion = replace(conversion, findings=counts, warnings=warnings, enums=skeleton.enums)
    page = conversion_page(work.run, work.graph, conversion, skeleton, work.translations, blobs)
    gaps = tuple((from_shown(one.file), one.reason) for one in conversion.functions if is_unproven(one))
    artifacts = ((CONVERSION, encode_conversion(conversion)), (CRATE, crate), (PAGE, page), *optimized)
    if skeleton.targets:
        planned = replace(conversion, functions=tuple(map(skeleton.planned, conversion.functions)))
        artifacts += ((PLANNED, encode_conversion(planned)),)
    return Commit(not_checked=gaps, artifacts=artifacts)


def _conversion(merged: Conversion, work: ConversionWork, blobs: Blobs) -> Conversion:
    """Return the conversion of the merge with the units that were not read."""
    commands = decode_commands(blobs.read(FastOptions.of(work.run).commands))
    gaps = unit_gaps(blobs, commands, work.batches)
    return replace(merged, not_checked=tuple((shown(file), reason) for file, reason in gaps.not_checked))
