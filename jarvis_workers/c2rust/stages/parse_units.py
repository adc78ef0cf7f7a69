"""Read a batch of translation units with clang.

The facts about the units are written to the blob store.  A unit with errors is listed as not checked, with clang's
first message, unless the run allows errors; in that case its symbols are marked as incomplete in the graph.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.builds.compile_commands import decode_commands
from jarvis_workers.builds.unit_forks import UnitLimits, UnitNotRead, read_units_and_files
from jarvis_workers.c2rust.stages.options import ParseOptions
from jarvis_workers.c2rust.stages.unit_batches import DEFINITIONS, UNITS, UnitsPayload, balance, first_error, pack_units
from jarvis_workers.c2rust.stages.unit_cache import CachedUnit, UnitCache
from jarvis_workers.errors import StepFailed, UsageError
from jarvis_workers.paths import leaves_the_root, shown
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.checkout import unpack
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.source.clang.unit_json import decode_unit
from jarvis_workers.store.values import Claimed, Commit, NewJob
from jarvis_workers.toolchain.headers import builtin_headers
from jarvis_workers.toolchain.temporary import temporary_directory

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

STEP = "symbols"
# A unit that never ends is stopped at this share of the batch time; the job itself is stopped at twice the batch time.
UNIT_SHARE = 0.9
LABEL_LENGTH = 120


@dataclass(frozen=True, kw_only=True)
class ParseWork(JsonRecord):
    """The input of a job: the indexes of its units in the compile commands, which are in the blob `commands`."""

    units: Sequence[int]
    snapshot: str
    commands: str
    allow_errors: bool
    definitions: bool = False
    clang_headers: str | None = None
    unit_seconds: float
    unit_memory_mb: float
    batch_seconds: float
    cache: bool = True
    links: Mapping[str, str] = field(default_factory=dict)


read_work = ParseWork.decode


def plan(run: "Run", blobs: Blobs) -> Iterator[NewJob]:
    """Yield a job per batch of units."""
    options = ParseOptions.of(run)
    commands = decode_commands(blobs.read(options.commands))
    with open_snapshot(blobs, run.snapshot_id) as reader:
        sizes = {entry.path: entry.size for entry in reader.files()}
    for batch in balance([sizes.get(command.file, 0) for command in commands], options.processes):
        yield _job(run.snapshot_id, options.commands, batch.units, _label(commands, batch.units), batch.size)


def load(_: "Session", run: "Run", job: Claimed) -> ParseWork:
    """Return the units of a job, with the run's parse options."""
    options = ParseOptions.of(run)
    return ParseWork(
        units=UnitsPayload.from_json(job.payload).units,
        snapshot=run.snapshot_id,
        commands=options.commands,
        allow_errors=options.allow_errors,
        definitions=options.definitions,
        clang_headers=options.clang_headers,
        unit_seconds=options.unit_seconds,
        unit_memory_mb=options.unit_memory_mb,
        batch_seconds=options.limits.batch_seconds,
        cache=options.cache,
        links=options.links,
    )


def decide(work: ParseWork, resources: Resources) -> Commit:
    """Read the units without cached facts; units left when the time is up become a new job."""
    blobs = resources.blobs
    commands = decode_commands(blobs.read(work.commands))
    with open_snapshot(blobs, work.snapshot) as reader:
        entries = {entry.path: entry for entry in reader.files()}
    try:
        headers = builtin_headers(work.clang_headers)
    except UsageError as problem:
        raise StepFailed(str(problem)) from problem
    digests = {path: entry.digest for path, entry in entries.items()}
    cache = UnitCache(resources.cache if work.cache else None, headers, digests, work.links)
    cached = {
        index: unit for index in work.units if (unit := cache.find(commands[index], definitions=work.definitions))
    }
    fresh = _read(work, commands, [index for index in work.units if index not in cached], resources, cache, headers)
    outcomes: dict[int, CachedUnit | UnitNotRead] = {**cached, **fresh}
    done = [index for index in work.units if index in outcomes]
    rest = [index for index in work.units if index not in outcomes]
    facts = [(index, found) for index in done if isinstance(found := outcomes[index], CachedUnit)]
    sizes = (entries[path].size for index in done if (path := commands[index].file) in entries)
    return Commit(
        files=len(facts),
        size=sum(sizes),
        cached=len(cached),
        not_checked=tuple(
            (commands[index].file, found.reason) for index in done if isinstance(found := outcomes[index], UnitNotRead)
        ),
        blobs=tuple((name, blobs.put(pack_units(lines))) for name, lines in _blobs(facts, work.definitions).items()),
        children=(_job(work.snapshot, work.commands, rest, _label(commands, rest), 0),) if rest else (),
    )


def _read(
    work: ParseWork,
    commands: Sequence[CompileCommand],
    units: Sequence[int],
    resources: Resources,
    cache: UnitCache,
    headers: Path,
) -> dict[int, CachedUnit | UnitNotRead]:
    """Read units until the time is up, at least one, and cache them."""
    outcomes: dict[int, CachedUnit | UnitNotRead] = {}
    if not units:
        return outcomes
    give_up = time.monotonic() + work.batch_seconds
    limits = UnitLimits(work.unit_seconds, work.unit_memory_mb, work.batch_seconds * UNIT_SHARE)
    with _checkout(work, resources) as root:
        _make_directories(root, {commands[index].directory for index in units})
        chosen = [commands[index] for index in units]
        readings = read_units_and_files(root, chosen, headers, limits, definitions=work.definitions)
        for index, reading in zip(units, readings, strict=False):
            if isinstance(reading, UnitNotRead):
                outcomes[index] = reading
            else:
                unit = decode_unit(reading.unit)
                read = CachedUnit(reading.unit, reading.definitions)
                cache.put(commands[index], read, unit, reading.system_files, root)
                refused = unit.errors and not work.allow_errors
                outcomes[index] = UnitNotRead(first_error(unit.errors)) if refused else read
            if time.monotonic() > give_up:
                break
    return outcomes


def _blobs(facts: Sequence[tuple[int, CachedUnit]], definitions: bool) -> dict[str, list[tuple[int, bytes]]]:
    units = {UNITS: [(index, found.unit) for index, found in facts]}
    return units | ({DEFINITIONS: [(index, found.definitions) for index, found in facts]} if definitions else {})


@contextmanager
def _checkout(work: ParseWork, resources: Resources) -> Iterator[Path]:
    """Yield a directory with the files of the snapshot."""
    if resources.checkouts and not work.links:
        yield unpack(resources.blobs, work.snapshot, resources.checkouts)
        return
    with temporary_directory("jarvis-checkout") as place:
        root = unpack(resources.blobs, work.snapshot, place)
        _make_links(root, work.links)
        yield root


def _make_links(root: Path, links: Mapping[str, str]) -> None:
    """Create the symbolic links of the project, which snapshots lack; link and target are relative to the root."""
    for link, target in links.items():
        if not any(leaves_the_root(os.fsencode(path)) for path in (link, target or "top")):
            path = root / link
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(os.path.relpath(root / target, path.parent))


def _make_directories(root: Path, directories: Iterable[bytes]) -> None:
    """Create the working directories of compile commands, which clang requires; a snapshot omits empty directories."""
    inside = Path(os.path.realpath(root))
    for directory in sorted(directories):
        path = Path(os.path.realpath(inside / os.fsdecode(directory)))
        if path.is_relative_to(inside):
            with suppress(OSError):  # clang cannot use the directory then, and the unit has errors
                path.mkdir(parents=True, exist_ok=True)


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
