"""Execute `jarvis c2rust run`."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import typer

from jarvis_cli.kit.progress import describe, rate_of
from jarvis_cli.kit.run_outcome import counted
from jarvis_workers.c2rust.commands.fast import convert_project
from jarvis_workers.c2rust.commands.run_options import ProjectMove
from jarvis_workers.c2rust.runs.collect import collect_names, compile_options, write_names
from jarvis_workers.c2rust.runs.conversion_request import IMPROVING, OPTIMIZING, REPLACING, ConversionRequest
from jarvis_workers.c2rust.runs.fast_run import unfinished_run
from jarvis_workers.c2rust.runs.replacement_results import ReplacementResult
from jarvis_workers.c2rust.runs.result_files import words_of_run
from jarvis_workers.errors import UsageError
from jarvis_workers.option import listed
from jarvis_workers.paths import plain
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.runs import stages_of
from jarvis_workers.runs.sources import is_address
from jarvis_workers.settings import Settings, load_settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

ROOTS_NEEDED = (
    "choose what to move: --files with the headers of the library, --root-list-syms with names of functions,"
    " or --no-replace to move all functions without libraries"
)


def move_project(options: ProjectMove) -> int:
    """Move a project to Rust in one run, and write its crate and files; return the exit code."""
    if options.files and options.root_list_syms:
        raise UsageError("--files and --root-list-syms exclude each other")
    if not (options.files or options.root_list_syms) and options.replace:
        raise UsageError(ROOTS_NEEDED)
    optimization = IMPROVING if not options.improve else ()
    declared = _declared(options) if options.files else ()
    request = ConversionRequest(
        options=replace(options.options, roots=listed(options.root_list_syms), declared=list(declared)),
        skipped_stages=(*(() if options.replace else REPLACING), *(optimization if options.optimize else OPTIMIZING)),
    )
    unfinished = partial(_unfinished, options) if options.resume and options.name is None else None
    return convert_project(options, request, unfinished, _summary)


def _declared(options: ProjectMove) -> tuple[str, ...]:
    """Return the functions that the headers declare, and write their names to a file."""
    if is_address(options.path):
        raise UsageError("--files needs a project on this machine; name the functions with --root-list-syms")
    settings = load_settings(directory=Path.cwd())
    root = Path(options.path)
    collected = collect_names(options.files or (), root, compile_options(settings), settings.c2rust.clang_headers)
    for warning in collected.warnings:
        _say(warning)
    if not options.dry_run:
        path = write_names(collected, root, options.out, _say)
        _say(f"{counted(len(collected.names), 'function')}: {path}")
    return collected.names


def _unfinished(options: ProjectMove, request: ConversionRequest, settings: Settings, store: Store) -> Run | None:
    if is_address(options.path):
        return None
    return unfinished_run(store, settings, Path(options.path), request, fetch=options.fetch_crates)


def _summary(stored: StoredRun) -> None:
    """Print a line per stage."""
    _, store, blobs, run = stored
    replaced, say = ReplacementResult(store, blobs, run), words_of_run(run)
    for stage in stages_of(store, run):
        line = f"{stage.name}: {describe(stage, rate_of(stage), say=say)}"
        if stage.name == "prune" and replaced.counts:
            line = f"{stage.name}: {replaced.counts.line(say)}"
        typer.echo(plain(line))


def _say(line: str) -> None:
    typer.echo(plain(line), err=True)
