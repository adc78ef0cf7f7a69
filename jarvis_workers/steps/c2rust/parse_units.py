"""Read a batch of translation units with clang.

The facts of the units go to the blob store.  A unit with errors is not checked, by name, with the first message of
clang, unless the run allows errors; what was read of it then is marked as incomplete in the graph.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_workers.errors import StepFailed, UsageError
from jarvis_workers.paths import shown
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.checkout import unpack
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.clang.unit import CompileCommand, Unit
from jarvis_workers.source.clang.unit_json import decode_unit
from jarvis_workers.steps.c2rust.options import ParseOptions, decode_commands
from jarvis_workers.steps.c2rust.unit_batches import UNITS, UnitsPayload, balance, first_error, pack_units
from jarvis_workers.steps.c2rust.unit_forks import UnitLimits, UnitNotRead, read_units
from jarvis_workers.store.values import Claimed, Commit, NewJob
from jarvis_workers.toolchain.headers import builtin_headers
from jarvis_workers.toolchain.temporary import temporary_directory

if TYPE_CHECKING:
    from sqlmodel import Session

    from jarvis_workers.store.runs import Run

STEP = "symbols"
LABEL_LENGTH = 120


@dataclass(frozen=True, kw_only=True)
class ParseWork(JsonRecord):
    """The input of a job: the indexes of its units in the compile commands, which are the blob `commands`."""

    units: Sequence[int]
    snapshot: str
    commands: str
    allow_errors: bool
    clang_headers: str | None = None
    unit_seconds: float
    unit_memory_mb: float
    batch_seconds: float
    cache: bool = True


read_work = ParseWork.decode


def plan(run: "Run", blobs: Blobs) -> Iterator[NewJob]:
    """Yield a job per batch of units."""
    options = ParseOptions.of(run)
    commands = decode_commands(blobs.read(options.commands))
    with open_snapshot(blobs, run.snapshot_id) as reader:
        sizes = {entry.path: entry.size for entry in reader.files()}
    for batch in balance([sizes.get(command.file, 0) for command in commands], options.processes):
        yield _job(run.snapshot_id, options.commands, batch.units, _label(commands, batch.units), batch.weight)


def load(_: "Session", run: "Run", job: Claimed) -> ParseWork:
    """Return the units of a job, with what the run says about reading them."""
    options = ParseOptions.of(run)
    return ParseWork(
        units=UnitsPayload.from_json(job.payload).units,
        snapshot=run.snapshot_id,
        commands=options.commands,
        allow_errors=options.allow_errors,
        clang_headers=options.clang_headers,
        unit_seconds=options.unit_seconds,
        unit_memory_mb=options.unit_memory_mb,
        batch_seconds=options.limits.batch_seconds,
        cache=options.cache,
    )


def decide(work: ParseWork, resources: Resources) -> Commit:
    """Read the units; those left when the time is up become a new job."""
    commands = decode_commands(resources.blobs.read(work.commands))
    facts: list[tuple[int, bytes]] = []
    not_checked: list[tuple[bytes, str]] = []
    done = 0
    give_up = time.monotonic() + work.batch_seconds
    for index, outcome in _read(work, commands, resources):
        done += 1
        reason = outcome.reason if isinstance(outcome, UnitNotRead) else _error(decode_unit(outcome), work)
        if isinstance(outcome, UnitNotRead) or reason:
            not_checked.append((commands[index].file, reason))
        else:
            facts.append((index, outcome))
        if time.monotonic() > give_up:
            break
    rest = work.units[done:]
    children = (_job(work.snapshot, work.commands, rest, _label(commands, rest), 0),) if rest else ()
    return Commit(
        files=len(facts),
        not_checked=tuple(not_checked),
        blobs=((UNITS, resources.blobs.put(pack_units(facts))),),
        children=children,
    )


def _read(
    work: ParseWork, commands: Sequence[CompileCommand], resources: Resources
) -> Iterator[tuple[int, bytes | UnitNotRead]]:
    try:
        headers = builtin_headers(work.clang_headers)
    except UsageError as problem:
        raise StepFailed(str(problem)) from problem
    with ExitStack() as stack:
        place = resources.checkouts or stack.enter_context(temporary_directory("jarvis-checkout"))
        root = unpack(resources.blobs, work.snapshot, place)
        limits = UnitLimits(work.unit_seconds, work.unit_memory_mb)
        outcomes = read_units(root, [commands[index] for index in work.units], headers, limits)
        yield from zip(work.units, outcomes, strict=True)


def _error(unit: Unit, work: ParseWork) -> str:
    """Return why a unit is not checked, "" if it is."""
    errors = unit.errors
    if work.allow_errors or not errors:
        return ""
    return first_error(errors)


def _job(snapshot: str, commands: str, units: Sequence[int], label: str, weight: int) -> NewJob:
    payload = UnitsPayload(units).to_json()
    return NewJob(
        step=STEP,
        queue="scan",
        label=label,
        input_hash=sha256(f"{snapshot}:{commands}:{payload}".encode()).hexdigest(),
        payload=payload,
        weight=weight,
    )


def _label(commands: Sequence[CompileCommand], units: Sequence[int]) -> str:
    first = shown(commands[units[0]].file)[-LABEL_LENGTH:]
    return first if len(units) == 1 else f"{first} … ({len(units)} units)"
