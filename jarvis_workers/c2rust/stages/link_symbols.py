"""Link the units of a project into one graph; write its symbols, order and pictures as artifacts."""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.c2rust.dot import dot_lines
from jarvis_workers.c2rust.graph import link_units
from jarvis_workers.c2rust.order import translation_order
from jarvis_workers.c2rust.stages.options import ParseOptions
from jarvis_workers.c2rust.stages.results import SymbolResult
from jarvis_workers.c2rust.stages.unit_batches import SYMBOLS_STAGE, read_units, unit_blobs
from jarvis_workers.c2rust.symbol_lines import order_lines, symbol_lines
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.pipeline.stages import CONTROL_QUEUE
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Claimed, Commit, Run, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


GRAPH = "graph"
# The names of the artifacts, which are also their file names.
SYMBOLS, ORDER, DOT = "symbols_raw.jsonl", "translation_order.jsonl", "graph.dot"


class LinkWork(NamedTuple):
    """The outcomes of the jobs that read units, and the names of the functions to translate last."""

    batches: tuple[StageJob, ...]
    delayed: tuple[str, ...]


plan = single_job(GRAPH, CONTROL_QUEUE, "link the units")


def load(session: "Session", run: Run, _: Claimed) -> LinkWork:
    """Return the data of the units."""
    return LinkWork(tuple(jobs.outcomes(session, run.id, SYMBOLS_STAGE)), tuple(ParseOptions.of(run).delayed))


def decide(work: LinkWork, resources: Resources) -> Commit:
    """Return the graph as the result, and its files as artifacts."""
    blobs = resources.blobs
    with _without_garbage_collection():
        graph = link_units(read_units(blobs, unit_blobs(blobs, work.batches)))
    steps = translation_order(graph, work.delayed)
    files = {SYMBOLS: symbol_lines(graph), ORDER: order_lines(graph, steps), DOT: dot_lines(graph)}
    contents = {name: _content(lines) for name, lines in files.items()}
    return Commit(
        results=(SymbolResult(graph),),
        artifacts=tuple(contents.items()),
        blobs=((SYMBOLS, blobs.put(contents[SYMBOLS])),),
    )


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Suspend garbage collection, which finds no cycles among decoded units but would take half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _content(lines: Iterable[str]) -> bytes:
    return b"".join(line.encode() for line in lines)
