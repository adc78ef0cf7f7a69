"""Execute `jarvis c2rust lib-replace`."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.project_run import RunCommand, execute_run, project_settings
from jarvis_cli.kit.report_target import Delivery
from jarvis_cli.kit.run_results import print_paths, write_rendered
from jarvis_cli.kit.status_output import Display, write_line
from jarvis_workers.c2rust.commands.conversion_output import has_result
from jarvis_workers.c2rust.commands.estimate import flags_of, print_estimate
from jarvis_workers.c2rust.commands.replace_options import LibraryReplace
from jarvis_workers.c2rust.runs.conversion_request import require_model
from jarvis_workers.c2rust.runs.replacement_results import ReplacementResult
from jarvis_workers.c2rust.runs.replacement_run import ReplaceInput, names_in, replace_request
from jarvis_workers.c2rust.runs.vendored_sources import allowed_crates, fetch_allowed
from jarvis_workers.c2rust.stages.replace_options import ReplaceOptions
from jarvis_workers.paths import plain
from jarvis_workers.runs.labels import parse_labels
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.settings import Settings

# Output of runs that replace functions with libraries: the report, the files of the project, and the exit code.

LINES_MAX = 20


def deliver_replacement(stored: StoredRun, screen: Display, *, quiet: bool) -> int:
    """Write the files of a run, and print its result; return the exit code."""
    _, store, blobs, run = stored
    result = ReplacementResult(store, blobs, run)
    files = result.export(say=screen.tell)
    if has_result(run) and not quiet:
        for line in result.lines(LINES_MAX):
            typer.echo(plain(line))
        if files:
            typer.echo(plain(f"files: {files[0].parent}{os.sep}"))
    return conclude(stored, screen)


def deliver(stored: StoredRun, delivery: Delivery, screen: Display) -> int:
    """Write the report and the files of a run that has ended or is paused; return the exit code."""
    _, store, blobs, run = stored
    write_rendered(stored, delivery)
    ReplacementResult(store, blobs, run).export(say=screen.tell)
    return conclude(stored, screen)


def export(stored: StoredRun, directory: Path | None) -> int:
    """Write the files of a run; return the exit code. Raises UsageError."""
    return print_paths(ReplacementResult(stored.store, stored.blobs, stored.run).export(directory, write_line))


def conclude(stored: StoredRun, screen: Display) -> int:
    """Print the outcome of a run that has ended or is paused; return the exit code."""
    _, store, blobs, run = stored
    code = exits.of_state(run.state)
    result = ReplacementResult(store, blobs, run)
    reasons = (run.reason, *(f"first {one}" for one in result.not_checked[:1]))
    reason = "; ".join(filter(None, reasons))
    text = f"run {run.id} is {run.state}{f' ({reason})' if reason else ''}"
    text += f": {result.counts.line()}" if result.counts else ""
    if run.state == "incomplete":
        text += "; repeat the command to judge the others again"
    elif run.state == "paused":
        text += f"; continue with: jarvis runs resume {run.id}"
    screen.conclude(plain(text), well=code == exits.DONE)
    return code


def replace_functions(command: LibraryReplace) -> int:
    """Replace functions of a project by libraries, and write its files; return the exit code."""
    settings = project_settings(flags_of(command), detach=command.detach)
    require_model(settings, command.options.model_group)
    roots = names_in(command.root_list_file) if command.root_list_file else []
    options = replace(command.options, roots=[*roots, *command.options.roots])
    run = RunCommand(
        path=str(command.path),
        request=partial(_request, settings, command, options),
        deliver=partial(_deliver, command),
        labels=parse_labels(command.label or ()),
        detach=command.detach,
        quiet=command.quiet,
    )
    if command.dry_run:
        return print_estimate(settings, run, as_json=command.as_json)
    return execute_run(settings, run)


def _request(
    settings: Settings,
    command: LibraryReplace,
    options: ReplaceOptions,
    source: SourceTree,
    executor: str,
    screen: Display,
) -> RunRequest[ReplaceInput]:
    if command.fetch_crates:
        crates = allowed_crates(settings, options.disabled, options.library)
        screen.tell(fetch_allowed(settings, crates, source.path))
    return replace_request(settings, source, executor, options, screen.tell, resume=command.resume)


def _deliver(command: LibraryReplace, stored: StoredRun, screen: Display) -> int:
    return deliver_replacement(stored, screen, quiet=command.quiet)
