"""What a run needs that compiles its project: a compiler and an archive for proofs, units for other analyzers."""

import os
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from jarvis_workers.builds.cargo_workspaces import MANIFEST, cargo_workspaces
from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.builds.compile_commands import encode_commands
from jarvis_workers.builds.compile_sources import CompileOptions, CompilePlan, NoSources, compile_commands_of
from jarvis_workers.builds.local_tree import METADATA
from jarvis_workers.builds.project_archive import pack_files, pack_project
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sandbox.limits import BenchLimits
from jarvis_workers.sec.bench.proof_compilers import installed_compilers
from jarvis_workers.sec.runs.scan_input import ScanInput, WitnessInput
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.run_witnesses import WitnessPlan
from jarvis_workers.sec.witnesses.analyzers import ANALYZERS, AUTO, NAMES, NONE
from jarvis_workers.settings import Settings
from jarvis_workers.source.clang.unit import ROOT, CompileCommand
from jarvis_workers.toolchain.analyzers import Installed, installed_analyzers

OPTION = "--witness"
# Where cargo writes what it builds.
TARGET = "target"


def can_compile() -> bool:
    """Return whether this machine has a compiler for proofs; whether it has sanitizers is found out by the first."""
    return bool(installed_compilers())


def with_project(settings: Settings, scan_input: ScanInput, root: Path) -> ScanInput:
    """Return the input of a scan with the archive of the project, if it is to be built for proofs, or to be fuzzed."""
    options = scan_input.options
    if not isinstance(options, JudgeOptions):
        return scan_input
    is_built = bool(options.prove or options.fuzz_seconds) and options.proof_build is not None
    if is_built and not root.is_dir():
        raise UsageError("--build needs a directory")
    # The inputs of its tests are seeds of fuzzing.
    if not is_built and not (options.fuzz_seconds and root.is_dir()):
        return scan_input
    return replace(scan_input, archive=pack_project(root, settings.c2rust.build_disk_mb))


def analyzers_of(chosen: Sequence[str], *, is_local: bool) -> tuple[str, ...]:
    """Return the analyzers that names stand for; of a local run, they must be installed. Raises UsageError."""
    there = installed_analyzers()
    if unknown := [name for name in chosen if name not in (*ANALYZERS, AUTO, NONE)]:
        raise UsageError(f'{OPTION}: "{plain(unknown[0])}" is none of {AUTO}, {NONE}, {NAMES}')
    if NONE in chosen and len(chosen) > 1:
        raise UsageError(f"{OPTION}: {NONE} cannot be combined with others")
    if AUTO in chosen:
        chosen = [*chosen, *(name for name, found in there.items() if isinstance(found, Installed))]
    names = tuple(name for name in ANALYZERS if name in chosen)
    missing = [f"{name}: {there[name]}" for name in names if not isinstance(there[name], Installed)]
    if is_local and missing:
        raise UsageError(f"{OPTION} {missing[0]}")
    if not names and NONE not in chosen:
        raise UsageError(f"{OPTION} {AUTO}: none of {NAMES} is installed")
    return names


def with_witnesses(settings: Settings, scan_input: ScanInput, place: Path, database: Path | None) -> ScanInput:
    """Return the input of a scan with the analyzers to run over a tree. Raises UsageError, CommandFailed.

    Those that are chosen by "auto" have nothing to do in a tree without files, or crates, of theirs.
    """
    names = analyzers_of(settings.scan.witness, is_local=settings.place == "local")
    if not names:
        return scan_input
    root, is_auto = place if place.is_dir() else place.parent, AUTO in settings.scan.witness
    of_crates = [name for name in names if ANALYZERS[name].of_crates]
    compiled = _compiled(settings, scan_input, root, database) if len(of_crates) < len(names) else ()
    crates = cargo_workspaces(root, settings.scan.exclude_dirs) if of_crates else []
    if not is_auto:
        if isinstance(compiled, NoSources):
            raise compiled
        if of_crates and not crates:
            raise UsageError(f"{OPTION} {of_crates[0]}: no {MANIFEST} in {plain(str(root))}")
    units = compiled if isinstance(compiled, CompilePlan) else None
    if not units and not crates:
        return scan_input
    return replace(scan_input, witness=_witness_input(settings, names, units, root, crates))


def _compiled(settings: Settings, scan_input: ScanInput, root: Path, database: Path | None) -> CompilePlan | NoSources:
    build = scan_input.options.proof_build
    commands = BuildCommands(build=build) if build and database is None else BuildCommands()
    try:
        return compile_commands_of(root, CompileOptions.from_settings(settings, database, commands))
    except NoSources as problem:
        return problem


def _witness_input(
    settings: Settings, names: Sequence[str], compiled: CompilePlan | None, root: Path, crates: Sequence[str]
) -> WitnessInput:
    c2rust, units = settings.c2rust, list(compiled.commands if compiled else ())
    for directory in crates:
        file = Path(directory, MANIFEST)
        units.append(CompileCommand(os.fsencode(file), os.fsencode(directory), (ROOT,)))
    archive = _archive(settings, compiled) if compiled else b""
    crate_archive = pack_project(root, c2rust.build_disk_mb, {*METADATA, TARGET}) if crates else b""
    commands = encode_commands(units)
    limits = BenchLimits(
        build_seconds=c2rust.build_seconds, memory_mb=c2rust.build_memory_mb, disk_mb=c2rust.build_disk_mb
    )
    plan = WitnessPlan(
        names,
        sha256(archive).hexdigest(),
        sha256(commands).hexdigest(),
        settings.scan.witness_seconds,
        settings.scan.witness_memory_mb,
        sha256(crate_archive).hexdigest(),
        limits,
    )
    return WitnessInput(plan.to_json().encode(), commands, archive, crate_archive)


def _archive(settings: Settings, compiled: CompilePlan) -> bytes:
    """Return the archive of the files that the units may read."""
    names = sorted({*map(os.fsdecode, compiled.files), *compiled.links})
    return pack_files(compiled.tree, map(compiled.tree.joinpath, names), settings.c2rust.build_disk_mb)
