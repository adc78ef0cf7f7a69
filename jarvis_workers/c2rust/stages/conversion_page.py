"""The page of a conversion: the graph of its project, with each function in C and in Rust."""

from typing import TYPE_CHECKING

from jarvis_workers.builds.compile_commands import decode_commands
from jarvis_workers.c2rust.conversion import BY_MODEL, Conversion, failures
from jarvis_workers.c2rust.order import translation_order
from jarvis_workers.c2rust.report.body import UncheckedUnit
from jarvis_workers.c2rust.report.conversion_data import conversion_data
from jarvis_workers.c2rust.report.measures import page_lines
from jarvis_workers.c2rust.report.page import PageFacts, render_page
from jarvis_workers.c2rust.report.wording import with_lines_in, words_in_reports
from jarvis_workers.c2rust.roots import find_roots
from jarvis_workers.c2rust.stages.c_sources import c_texts
from jarvis_workers.c2rust.stages.final_bodies import Translations, final_bodies
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.c2rust.stages.skeleton import Skeleton
from jarvis_workers.c2rust.symbol import SymbolGraph
from jarvis_workers.paths import shown
from jarvis_workers.snapshots.blobs import Blobs

if TYPE_CHECKING:
    from jarvis_workers.store.values import Run


def conversion_page(
    run: "Run",
    graph: SymbolGraph,
    conversion: Conversion,
    skeleton: Skeleton,
    translations: Translations,
    blobs: Blobs,
) -> bytes:
    """Return the page of a conversion, whose functions have the bodies of its skeleton or its translations."""
    name = shown(run.root_raw.rstrip(b"/").rpartition(b"/")[2]) or run.root
    options = FastOptions.of(run)
    steps, say = translation_order(graph, options.delayed), words_in_reports(options.lang)
    conversion = with_lines_in(say, conversion)
    rust = {slot: item.text for slot, item in skeleton.bodies.items()}
    bodies = final_bodies(blobs, skeleton, translations).bodies
    rust |= {one.slot: bodies[one.slot].text for one in conversion.functions if one.state in BY_MODEL}
    data = conversion_data(graph, conversion, c_texts(blobs, run.snapshot_id, conversion.functions), rust)
    facts = PageFacts(
        name,
        details=tuple(page_lines(conversion, say)),
        units=len(decode_commands(blobs.read(options.commands))),
        not_checked=[UncheckedUnit(*one) for one in conversion.not_checked],
        warnings=conversion.warnings,
        failures=failures(conversion, say),
    )
    return render_page(graph, steps, find_roots(graph), facts, data, say)
