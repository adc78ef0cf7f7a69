"""Remove the functions that libraries replace; write the pruned symbols, their order, and the replacements."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.c2rust.library_plan import library_plan
from jarvis_workers.c2rust.library_pruning import prune
from jarvis_workers.c2rust.replacement_lines import ReplacementCounts, replacement_lines
from jarvis_workers.c2rust.stages.library_plans import LIBRARIES, STEP
from jarvis_workers.c2rust.stages.link_symbols import GRAPH
from jarvis_workers.c2rust.stages.replace_options import ReplaceOptions
from jarvis_workers.c2rust.stages.replaceable_project import STEP as REPLACE
from jarvis_workers.c2rust.stages.replaceable_project import project_of, symbols_in, verdicts_of
from jarvis_workers.c2rust.symbol_lines import order_lines, symbol_lines
from jarvis_workers.c2rust.symbol_reader import compute_order
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.pipeline.stages import CONTROL_QUEUE
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Claimed, Commit, Run, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

# The names of the artifacts, which are also file names except for that of the counts.
REPLACEMENTS, PRUNED_SYMBOLS, PRUNED_ORDER = (
    "library_replacements.jsonl",
    "symbols_library_pruned.jsonl",
    "translation_order_prune.jsonl",
)
COUNTS = "replacement_counts"


class PruneWork(NamedTuple):
    """The run, its jobs that judged functions, and those that linked its units."""

    run: Run
    judged: tuple[StageJob, ...]
    linked: tuple[StageJob, ...]


plan = single_job(STEP, CONTROL_QUEUE, "prune what libraries replace")


def load(session: "Session", run: Run, _: Claimed) -> PruneWork:
    """Return the verdicts of the run."""
    return PruneWork(run, *(tuple(jobs.outcomes(session, run.id, stage)) for stage in (REPLACE, GRAPH)))


def decide(work: PruneWork, resources: Resources) -> Commit:
    """Return the files of the pruned project as artifacts."""
    options, blobs = ReplaceOptions.of(work.run), resources.blobs
    project = project_of(options, blobs, symbols_in(options, work.linked, blobs))
    verdicts = verdicts_of(project, options, blobs, work.judged)
    at = datetime.fromtimestamp(work.run.created_at, UTC).isoformat(timespec="seconds")
    pruned = prune(project.symbols.graph, project.uses, project.roots, verdicts, at)
    steps = compute_order(replace(project.symbols, graph=pruned.graph), options.entries)
    counts = ReplacementCounts.of(pruned, verdicts)
    choices = {number: choice for number in pruned.replaced if (choice := verdicts[number].choice)}
    libraries = library_plan(project.symbols.graph, project.uses, choices, pruned.pruned)
    return Commit(
        artifacts=(
            (REPLACEMENTS, _content(replacement_lines(pruned))),
            (PRUNED_SYMBOLS, _content(symbol_lines(pruned.graph))),
            (PRUNED_ORDER, _content(order_lines(pruned.graph, steps))),
            (COUNTS, counts.model_dump_json().encode()),
        ),
        blobs=((LIBRARIES, blobs.put(libraries.model_dump_json().encode())),),
    )


def _content(lines: Iterable[str]) -> bytes:
    return b"".join(line.encode() for line in lines)
