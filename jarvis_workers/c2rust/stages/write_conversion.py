"""Write the results of a conversion: the body of its report, the page, and the user's crate as an archive."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.c2rust.bench.crate_archive import files_of, tar_of
from jarvis_workers.c2rust.conversion import (
    BY_MODEL,
    Conversion,
    FunctionResult,
    decode_conversion,
    encode_conversion,
    failures,
    is_unproven,
)
from jarvis_workers.c2rust.crate_metrics import crate_metrics, is_module
from jarvis_workers.c2rust.optimization import PASSES
from jarvis_workers.c2rust.order import translation_order
from jarvis_workers.c2rust.report.body import UncheckedUnit
from jarvis_workers.c2rust.report.conversion_data import conversion_data
from jarvis_workers.c2rust.report.measures import page_lines
from jarvis_workers.c2rust.report.page import PageFacts, render_page
from jarvis_workers.c2rust.report.wording import with_lines_in, words_in_reports
from jarvis_workers.c2rust.roots import find_roots
from jarvis_workers.c2rust.stages.c_sources import c_texts
from jarvis_workers.c2rust.stages.final_bodies import STAGES as TRANSLATING
from jarvis_workers.c2rust.stages.final_bodies import Translations, final_bodies
from jarvis_workers.c2rust.stages.improve_files import STEP as IMPROVE
from jarvis_workers.c2rust.stages.link_symbols import SYMBOLS_STAGE, unit_gaps
from jarvis_workers.c2rust.stages.merge_bodies import CRATE as CRATE_BLOB
from jarvis_workers.c2rust.stages.merge_bodies import MERGED
from jarvis_workers.c2rust.stages.merge_bodies import STEP as MERGE
from jarvis_workers.c2rust.stages.optimize_crate import STEP as OPTIMIZE
from jarvis_workers.c2rust.stages.options import FastOptions, decode_commands
from jarvis_workers.c2rust.stages.rule_findings import rule_findings
from jarvis_workers.c2rust.stages.skeleton import SKELETON, Skeleton, read_skeleton
from jarvis_workers.c2rust.stages.write_optimization import REPORT_FILE, read_passes
from jarvis_workers.c2rust.store import symbols
from jarvis_workers.c2rust.symbol import SymbolGraph
from jarvis_workers.c2rust.translation import shown_signature
from jarvis_workers.errors import StepFailed
from jarvis_workers.paths import from_shown, shown
from jarvis_workers.pipeline.history import read_result
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
CONVERSION, CRATE, PAGE, PLANNED = "conversion", "crate.tar", "report.html", "planned"
STEP = "report"


class ConversionWork(NamedTuple):
    """The data from the store: the graph, and the jobs of earlier stages."""

    run: Run
    graph: SymbolGraph
    batches: tuple[StageJob, ...]
    skeleton: tuple[StageJob, ...]
    merge: tuple[StageJob, ...]
    passes: tuple[StageJob, ...] = ()
    improved: tuple[StageJob, ...] = ()
    translations: Translations = Translations()


plan = single_job(STEP, CONTROL_QUEUE, "write the report")


def load(session: "Session", run: Run, _: Claimed | None = None) -> ConversionWork:
    """Return the data for the report."""
    source = FastOptions.of(run).paused_run or run.id
    batches, skeleton = (tuple(jobs.outcomes(session, source, stage)) for stage in (SYMBOLS_STAGE, SKELETON))
    merge, passes, improved = (tuple(jobs.outcomes(session, run.id, stage)) for stage in (MERGE, OPTIMIZE, IMPROVE))
    translations = Translations.of(*(jobs.outcomes(session, source, stage) for stage in TRANSLATING))
    return ConversionWork(run, symbols.read(session, source), batches, skeleton, merge, passes, improved, translations)


def decide(work: ConversionWork, resources: Resources) -> Commit:
    """Return the body, the page and the crate as artifacts."""
    blobs = resources.blobs
    skeleton = read_skeleton(blobs, work.skeleton)
    conversion = _conversion(work, blobs)
    names = [read_result(blobs, one.result).blobs.get(CRATE_BLOB) for one in work.merge]
    crate = next(blobs.read(name) for name in names if name)
    optimized: tuple[tuple[str, bytes], ...] = ()
    if work.passes:
        files = files_of(crate)
        result = read_passes(blobs, tuple(PASSES), sum(map(is_module, files)), work.passes, work.improved)
        files |= files_of(result.steps[-1][1]) if result.steps else {}
        warnings = (*conversion.warnings, *map(IMPROVED.format, result.report.files_improved))
        crate = tar_of(files)
        conversion = replace(conversion, metrics=crate_metrics(files), clippy=None, warnings=warnings)
        optimized = ((REPORT_FILE, result.report.model_dump_json(indent=1).encode()),)
    sources = {one.file for one in conversion.functions}
    found = rule_findings(blobs, work.run.snapshot_id, sources, files_of(crate))
    warnings = (*conversion.warnings, *found.problems)
    # Without findings, "none" is only true if everything was scanned.
    counts = found.counts if found.counts or not found.problems else None
    conversion = replace(conversion, findings=counts, warnings=warnings, enums=skeleton.enums)
    page = _page(work, conversion, skeleton, blobs)
    gaps = tuple((from_shown(one.file), one.reason) for one in conversion.functions if is_unproven(one))
    planned = ((PLANNED, encode_conversion(_planned(conversion, skeleton))),) if skeleton.targets else ()
    artifacts = ((CONVERSION, encode_conversion(conversion)), (CRATE, crate), (PAGE, page), *optimized, *planned)
    return Commit(not_checked=gaps, artifacts=artifacts)


def _planned(conversion: Conversion, skeleton: Skeleton) -> Conversion:
    """Return a conversion with the planned signatures, as of a run that only plans them."""

    def planned(one: FunctionResult) -> FunctionResult:
        target = skeleton.targets.get(one.slot)
        signature = shown_signature(target.item.text) if target else ""
        plain = replace(one, rust_signature=signature, state="forwarded", proof="built" if target else "none")
        return replace(plain, mapping=target.mapping if target else ())

    return replace(conversion, functions=tuple(map(planned, conversion.functions)))


def _conversion(work: ConversionWork, blobs: Blobs) -> Conversion:
    for one in work.merge:
        if name := read_result(blobs, one.result).blobs.get(MERGED):
            conversion = decode_conversion(blobs.read(name))
            commands = decode_commands(blobs.read(FastOptions.of(work.run).commands))
            gaps = unit_gaps(blobs, commands, work.batches)
            return replace(conversion, not_checked=tuple((shown(file), reason) for file, reason in gaps.not_checked))
    raise StepFailed(next((one.reason for one in work.merge if one.reason), "the functions were not merged"))


def _page(work: ConversionWork, conversion: Conversion, skeleton: Skeleton, blobs: Blobs) -> bytes:
    name = shown(work.run.root_raw.rstrip(b"/").rpartition(b"/")[2]) or work.run.root
    options = FastOptions.of(work.run)
    steps, say = translation_order(work.graph, options.delayed), words_in_reports(options.lang)
    conversion = with_lines_in(say, conversion)
    rust = {slot: item.text for slot, item in skeleton.bodies.items()}
    bodies = final_bodies(blobs, skeleton, work.translations).bodies
    rust |= {one.slot: bodies[one.slot].text for one in conversion.functions if one.state in BY_MODEL}
    data = conversion_data(work.graph, conversion, c_texts(blobs, work.run.snapshot_id, conversion.functions), rust)
    facts = PageFacts(
        name,
        details=tuple(page_lines(conversion, say)),
        units=len(decode_commands(blobs.read(options.commands))),
        not_checked=[UncheckedUnit(*one) for one in conversion.not_checked],
        warnings=conversion.warnings,
        failures=failures(conversion, say),
    )
    return render_page(work.graph, steps, find_roots(work.graph), facts, data, say)
