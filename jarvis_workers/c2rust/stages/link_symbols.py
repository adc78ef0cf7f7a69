"""Link the units of a project into one graph; write its symbols, order and pictures as artifacts."""

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.c2rust.dot import dot_lines
from jarvis_workers.c2rust.graph import link_units
from jarvis_workers.c2rust.order import translation_order
from jarvis_workers.c2rust.stages.options import ParseOptions
from jarvis_workers.c2rust.stages.results import SymbolResult
from jarvis_workers.c2rust.stages.unit_batches import UNITS, UnitsPayload, first_error, read_errors, read_units
from jarvis_workers.c2rust.symbol_lines import order_lines, symbol_lines
from jarvis_workers.paths import from_shown, shown
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.pipeline.stages import CONTROL_QUEUE
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Claimed, Commit, Run, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session


GRAPH = "graph"
SYMBOLS_STAGE = "symbols"
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


def unit_blobs(blobs: Blobs, batches: Iterable[StageJob]) -> Iterator[str]:
    """Yield the names of the blobs that contain the units of some jobs."""
    for batch in batches:
        found = read_result(blobs, batch.result).blobs
        if UNITS in found:
            yield found[UNITS]


def _content(lines: Iterable[str]) -> bytes:
    return b"".join(line.encode() for line in lines)


# Determine the units that a run has not read from the outcomes of its jobs, in order, with one entry per unit.

NOT_REACHED = "not reached before the run ended"


class UnitGaps(NamedTuple):
    """The units that were not read, with reasons, and warnings about units that were read with errors.

    A file that is compiled several times has an entry for each of its units that was not read.
    """

    not_checked: tuple[tuple[bytes, str], ...]
    warnings: tuple[str, ...]


def unit_gaps(blobs: Blobs, commands: Sequence[CompileCommand], batches: Sequence[StageJob]) -> UnitGaps:
    """Return the gaps of a run; a unit whose job failed has the job's reason."""
    gaps = [
        (from_shown(path), reason) for batch in batches for path, reason in read_result(blobs, batch.result).not_checked
    ]
    done: set[int] = set()
    warnings: set[str] = set()
    for index, errors in read_errors(blobs, unit_blobs(blobs, batches)):
        done.add(index)
        if errors:
            warnings.add(f"{shown(commands[index].file)} was read with errors: {first_error(errors)}")
    named = Counter(path for path, _ in gaps)
    reasons = _reasons(batches)
    for index, command in enumerate(commands):
        if index in done:
            continue
        if named[command.file]:
            named[command.file] -= 1
        else:
            gaps.append((command.file, reasons.get(index, NOT_REACHED)))
    return UnitGaps(tuple(sorted(gaps)), tuple(sorted(warnings)))


def _reasons(batches: Sequence[StageJob]) -> dict[int, str]:
    """Return the reason why each unit of a failed job was not read."""
    return {
        index: batch.reason
        for batch in batches
        if batch.state == "failed" and batch.reason
        for index in UnitsPayload.from_json(batch.payload).units
    }
