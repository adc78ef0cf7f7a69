"""Execute `jarvis c2rust optimize`."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.project_run import RunCommand, execute_run, project_settings
from jarvis_cli.kit.status_output import Display
from jarvis_workers.c2rust.commands.optimize import conclude, deliver_optimization
from jarvis_workers.c2rust.commands.optimize_options import CrateOptimization
from jarvis_workers.c2rust.runs.conversion_request import require_tools
from jarvis_workers.c2rust.runs.optimize_results import OptimizeResult, reset_progress, write_empty_report
from jarvis_workers.c2rust.runs.optimize_run import OptimizeInput, chosen_files, find_rust_crate, optimize_request
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.labels import parse_labels
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.sources import SourceTree


def optimize_crate(command: CrateOptimization) -> int:
    """Optimize a crate; return the exit code."""
    settings = project_settings(command.flags, detach=command.detach)
    if not command.passes:
        raise UsageError("nothing to do: all passes are switched off")
    crate = find_rust_crate(command.crate_dir, Path())
    if command.reset_progress and not command.dry_run:
        reset_progress(crate)
    options = replace(command.request.options, passes=list(command.passes))
    request = replace(command.request, options=options, resume=command.request.resume and not command.reset_progress)
    files = chosen_files(crate, request, lambda line: typer.echo(plain(line), err=True))
    if not files:
        if not command.dry_run:
            write_empty_report(crate)
        typer.echo(plain(f"{crate}: no file to optimize"))
        return exits.DONE
    require_tools(settings)

    def run_request(source: SourceTree, executor: str, _: Display) -> RunRequest[OptimizeInput]:
        return optimize_request(settings, source, executor, options, files)

    run = RunCommand(
        path=str(crate),
        request=run_request,
        deliver=partial(_deliver, command, crate),
        labels=parse_labels(command.label or ()),
        detach=command.detach,
        quiet=command.quiet,
    )
    return execute_run(settings, run)


def _deliver(options: CrateOptimization, crate: Path, stored: StoredRun, screen: Display) -> int:
    result = OptimizeResult(stored.store, stored.blobs, stored.run)
    if result.report is None:
        return conclude(stored, screen)
    place = None if options.dry_run else crate
    return deliver_optimization(result, place, screen, git_guard=options.git_guard, quiet=options.quiet)
