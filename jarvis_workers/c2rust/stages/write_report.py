"""Write the report on the symbols of a project: the body, and the page that shows the graph.

Both depend only on the sources and the options, so that the same sources produce the same bytes.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.builds.compile_commands import decode_commands
from jarvis_workers.c2rust.order import translation_order
from jarvis_workers.c2rust.report.body import ScanBody, UncheckedUnit, encode_body, scan_body
from jarvis_workers.c2rust.report.page import PageFacts, render_page
from jarvis_workers.c2rust.report.wording import words_in_reports
from jarvis_workers.c2rust.roots import find_roots
from jarvis_workers.c2rust.stages.options import ParseOptions
from jarvis_workers.c2rust.stages.unit_batches import SYMBOLS_STAGE, unit_gaps
from jarvis_workers.c2rust.store import symbols
from jarvis_workers.c2rust.symbol import SymbolGraph
from jarvis_workers.paths import shown
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.pipeline.stages import CONTROL_QUEUE
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Claimed, Commit, Run, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

# The names of the artifacts.
REPORT, PAGE = "report", "report.html"


class GraphReportWork(NamedTuple):
    """The data from the store: the graph, and the outcomes of the jobs that read units."""

    run: Run
    graph: SymbolGraph
    batches: tuple[StageJob, ...]


plan = single_job(REPORT, CONTROL_QUEUE, "write the report")


def load(session: "Session", run: Run, _: Claimed | None = None) -> GraphReportWork:
    """Return the data for the report."""
    return GraphReportWork(run, symbols.read(session, run.id), tuple(jobs.outcomes(session, run.id, SYMBOLS_STAGE)))


def decide(work: GraphReportWork, resources: Resources) -> Commit:
    """Return the body and the page as artifacts."""
    body = graph_body(work, resources.blobs)
    page = _page(work, body)
    return Commit(artifacts=((REPORT, encode_body(body)), (PAGE, page)))


def graph_body(work: GraphReportWork, blobs: Blobs) -> ScanBody:
    """Return the body of the report of a finished run, or of the results so far."""
    options = ParseOptions.of(work.run)
    commands = decode_commands(blobs.read(options.commands))
    gaps = unit_gaps(blobs, commands, work.batches)
    return scan_body(
        work.graph,
        translation_order(work.graph, options.delayed),
        find_roots(work.graph),
        units=len(commands),
        not_checked=[UncheckedUnit(shown(file), reason) for file, reason in gaps.not_checked],
        warnings=[*options.warnings, *gaps.warnings],
        files_not_read=list(_files_not_packed(blobs, work.run.snapshot_id)),
    )


def _files_not_packed(blobs: Blobs, snapshot: str) -> Iterator[UncheckedUnit]:
    """Yield the files of the project that no unit could include, since the snapshot lacks them."""
    with open_snapshot(blobs, snapshot) as reader:
        for path, reason in reader.index.not_checked:
            yield UncheckedUnit(shown(path), reason)


def _page(work: GraphReportWork, body: ScanBody) -> bytes:
    name = shown(work.run.root_raw.rstrip(b"/").rpartition(b"/")[2]) or work.run.root
    facts = PageFacts(name, units=body.units, not_checked=body.not_checked, warnings=body.warnings)
    options = ParseOptions.of(work.run)
    steps, say = translation_order(work.graph, options.delayed), words_in_reports(options.lang)
    return render_page(work.graph, steps, find_roots(work.graph), facts, say=say)
