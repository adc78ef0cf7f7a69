"""Execute `jarvis c2rust optimize`."""

from functools import partial
from pathlib import Path

import typer

from jarvis_cli import exits
from jarvis_cli.c2rust_optimize_options import CrateOptimization
from jarvis_cli.optimize_output import conclude, deliver_optimization
from jarvis_cli.project_run import RunCommand, execute_run, project_settings
from jarvis_cli.status_output import Display
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.service.c2rust.fast_run import require_tools
from jarvis_workers.service.c2rust.optimize_results import OptimizeResult, reset_progress, write_empty_report
from jarvis_workers.service.c2rust.optimize_run import (
    OptimizeChoice,
    OptimizeInput,
    chosen_files,
    find_rust_crate,
    optimize_request,
)
from jarvis_workers.service.labels import parse_labels
from jarvis_workers.service.run_kinds import StoredRun
from jarvis_workers.service.sources import SourceTree
from jarvis_workers.service.submit import RunRequest
from jarvis_workers.settings import Settings


def optimize_crate(options: CrateOptimization) -> int:
    """Optimize a crate; return the exit code."""
    settings = project_settings({"where": options.where, "agent.budget": options.budget}, detach=options.detach)
    if not options.passes:
        raise UsageError("nothing to do: all passes are switched off")
    crate = find_rust_crate(options.crate_dir, Path())
    if options.reset_progress and not options.dry_run:
        reset_progress(crate)
    choice = _choice(options)
    files = chosen_files(crate, choice, lambda line: typer.echo(plain(line), err=True))
    if not files:
        if not options.dry_run:
            write_empty_report(crate)
        typer.echo(plain(f"{crate}: no file to optimize"))
        return exits.DONE
    require_tools(settings)
    command = RunCommand(
        str(crate),
        request=partial(_request, settings, options, choice, files),
        deliver=partial(_deliver, options, crate),
        detach=options.detach,
        quiet=options.quiet,
    )
    return execute_run(settings, command)


def _choice(options: CrateOptimization) -> OptimizeChoice:
    return OptimizeChoice(
        passes=options.passes,
        max_checks=options.max_checks,
        include=tuple(options.include or ()),
        exclude=tuple(options.exclude or ()),
        max_files=options.max_files,
        resume=options.resume and not options.reset_progress,
        group=options.group,
        fix_retries=options.build_fix_retries,
    )


def _request(
    settings: Settings,
    options: CrateOptimization,
    choice: OptimizeChoice,
    files: list[str],
    source: SourceTree,
    executor: str,
    _: Display,
) -> RunRequest[OptimizeInput]:
    return optimize_request(settings, source, executor, choice, files, parse_labels(options.label or ()))


def _deliver(options: CrateOptimization, crate: Path, stored: StoredRun, screen: Display) -> int:
    result = OptimizeResult(stored.store, stored.blobs, stored.run)
    if result.report is None:
        return conclude(stored, screen)
    place = None if options.dry_run else crate
    return deliver_optimization(result, place, screen, git_guard=options.git_guard, quiet=options.quiet)
