"""Batches of translation units, planned by size, and blobs with the facts of a batch, one unit per line.

A unit is identified by its index in the run's compile commands.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jarvis_workers.paths import from_shown, plain, shown
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.source.clang.c_types import UnitDefinitions
from jarvis_workers.source.clang.unit import CompileCommand, Diagnostic, Unit
from jarvis_workers.source.clang.unit_json import decode_definitions, decode_errors, decode_unit
from jarvis_workers.store.values import StageJob

# Fixed cost of a unit, which is that of its headers, in bytes of source that take as long to read.
UNIT_BYTES = 50_000
# Batches are small enough to occupy a cluster, which has more workers than a command has processes.
BATCH_UNITS = 16
BATCH_BYTES = 2_000_000
BATCHES_PER_PROCESS = 4
# The names of the blobs with the facts of a batch, and with its definitions if the run reads them.
UNITS, DEFINITIONS = "units", "definitions"
MESSAGE_LENGTH = 300
# The stage whose jobs read batches.
SYMBOLS_STAGE = "symbols"
NOT_REACHED = "not reached before the run ended"


@dataclass(frozen=True)
class UnitsPayload(JsonRecord):
    """The indexes of the units of a job."""

    units: Sequence[int]


class UnitBatch(NamedTuple):
    """Indexes of units in ascending order, and the size of their files."""

    units: tuple[int, ...]
    size: int


def balance(sizes: Sequence[int], processes: int) -> list[UnitBatch]:
    """Return batches that take about the same time, large files first; each unit is in exactly one batch."""
    share = min((sum(sizes) + UNIT_BYTES * len(sizes)) // (max(1, processes) * BATCHES_PER_PROCESS), BATCH_BYTES)
    batches: list[list[int]] = []
    weight = 0
    for index in sorted(range(len(sizes)), key=lambda one: (-sizes[one], one)):
        weight += sizes[index] + UNIT_BYTES
        if not batches or weight > share or len(batches[-1]) >= BATCH_UNITS:
            batches.append([])
            weight = sizes[index] + UNIT_BYTES
        batches[-1].append(index)
    return [UnitBatch(tuple(sorted(units)), sum(sizes[index] for index in units)) for units in batches]


def pack_units(facts: Iterable[tuple[int, bytes]]) -> bytes:
    """Return the content of a blob: a line per unit, with its index and the output of `encode_unit`."""
    return b"".join(b"%d %b\n" % one for one in facts)


def read_units(blobs: Blobs, names: Iterable[str]) -> Iterator[Unit]:
    """Yield the units in blobs."""
    return (decode_unit(content) for _, content in _lines(blobs, names))


def definition_blobs(blobs: Blobs, results: Iterable[str]) -> list[str]:
    """Return the names of the blobs with the definitions, from the results of the jobs that read units."""
    found = (read_result(blobs, result).blobs.get(DEFINITIONS) for result in results)
    return [name for name in found if name]


def read_unit_definitions(blobs: Blobs, names: Iterable[str]) -> Iterator[tuple[int, UnitDefinitions]]:
    """Yield the indexes of the units in blobs, each with its definitions."""
    return ((index, decode_definitions(content)) for index, content in _lines(blobs, names))


def read_errors(blobs: Blobs, names: Iterable[str]) -> Iterator[tuple[int, tuple[Diagnostic, ...]]]:
    """Yield the index and the errors of each unit in blobs."""
    return ((index, decode_errors(content)) for index, content in _lines(blobs, names))


def _lines(blobs: Blobs, names: Iterable[str]) -> Iterator[tuple[int, bytes]]:
    for name in names:
        for line in blobs.read(name).splitlines():
            index, _, content = line.partition(b" ")
            yield int(index), content


def first_error(errors: Sequence[Diagnostic]) -> str:
    """Return the first diagnostic and the number of further diagnostics, on one line."""
    first = errors[0]
    place = f"{shown(first.file)}:{first.line}: " if first.file else ""
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{place}{plain(first.message)[:MESSAGE_LENGTH]}{more}"


def unit_blobs(blobs: Blobs, batches: Iterable[StageJob]) -> Iterator[str]:
    """Yield the names of the blobs that contain the units of some jobs."""
    for batch in batches:
        found = read_result(blobs, batch.result).blobs
        if UNITS in found:
            yield found[UNITS]


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
