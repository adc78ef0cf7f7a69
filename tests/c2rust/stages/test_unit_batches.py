"""Batches of units: each unit in one of them, of about the same size; and the units that no job has read."""

from pathlib import Path

import pytest

from jarvis_workers.c2rust.stages.unit_batches import (
    BATCH_UNITS,
    NOT_REACHED,
    UnitsPayload,
    balance,
    first_error,
    pack_units,
    unit_gaps,
)
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.source.clang.unit import CompileCommand, Diagnostic, Unit
from jarvis_workers.source.clang.unit_json import encode_unit
from jarvis_workers.store.values import StageJob

COMMANDS = [CompileCommand(b"%d.c" % number, b"", ()) for number in range(4)]


@pytest.mark.parametrize("sizes", [[], [5], [0] * 100, [9_000_000, 1, 1, 1], list(range(0, 3_000_000, 7_000))])
@pytest.mark.parametrize("processes", [0, 1, 8])
def test_each_unit_is_in_one_batch(sizes: list[int], processes: int) -> None:
    batches = balance(sizes, processes)

    assert sorted(unit for batch in batches for unit in batch.units) == list(range(len(sizes)))
    assert sum(batch.size for batch in batches) == sum(sizes)
    assert all(0 < len(batch.units) <= BATCH_UNITS for batch in batches)


def test_a_large_unit_is_alone_and_first() -> None:
    assert balance([10, 9_000_000, 10, 10], 1)[0].units == (1,)


def test_units_that_no_job_has_read_are_named_with_the_reason(tmp_path: Path) -> None:
    blobs = DirectoryBlobs(tmp_path)
    unit = Unit(b"0.c", "c", "", diagnostics=(Diagnostic("error", b"0.c", 3, 1, "no type"),))
    blob = blobs.put(pack_units([(0, encode_unit(unit))]))
    result = f'{{"not_checked": [["1.c", "1.c:1: oh"]], "units": "{blob}"}}'
    batches = [job("done", [0, 1], result=result), job("failed", [2], reason="crashed")]

    gaps = unit_gaps(blobs, COMMANDS, batches)

    assert gaps.not_checked == ((b"1.c", "1.c:1: oh"), (b"2.c", "crashed"), (b"3.c", NOT_REACHED))
    assert gaps.warnings == ("0.c was read with errors: 0.c:3: no type",)


def test_each_unit_of_a_file_that_was_not_read_counts(tmp_path: Path) -> None:
    blobs = DirectoryBlobs(tmp_path)
    commands = [CompileCommand(b"a.c", b"", arguments) for arguments in ((), ("-DX",), ("-DY",))]
    result = f'{{"not_checked": [["a.c", "oh"], ["a.c", "oh"]], "units": "{blobs.put(pack_units([]))}"}}'
    batches = [job("done", [0, 1], result=result), job("failed", [2], reason="crashed")]

    gaps = unit_gaps(blobs, commands, batches)

    assert gaps.not_checked == ((b"a.c", "crashed"), (b"a.c", "oh"), (b"a.c", "oh"))


def test_the_first_error_is_one_line() -> None:
    errors = [Diagnostic("fatal", b"", 0, 0, "too\nlong " + "x" * 1000), Diagnostic("error", b"a.c", 1, 1, "more")]

    assert first_error(errors).startswith("too\\nlong xxx")
    assert first_error(errors).endswith("x (and 1 more)")
    assert len(first_error(errors)) < len(errors[0].message)


def job(state: str, units: list[int], *, reason: str | None = None, result: str | None = None) -> StageJob:
    return StageJob(state, reason, "", 0, UnitsPayload(units).to_json(), result, 0)
