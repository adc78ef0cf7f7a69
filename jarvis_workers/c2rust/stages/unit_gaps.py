"""Determine the units that a run has not read from the outcomes of its jobs, in order, with one entry per unit."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from jarvis_workers.c2rust.stages.link_symbols import unit_blobs
from jarvis_workers.c2rust.stages.unit_batches import UnitsPayload, first_error, read_errors
from jarvis_workers.paths import from_shown, shown
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.store.values import StageJob

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
