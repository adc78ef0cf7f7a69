"""Output of runs that optimize a crate: the changed files, the report, and the exit code."""

import os
from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.report_target import Delivery, write_report
from jarvis_cli.kit.run_results import print_paths
from jarvis_cli.kit.status_output import Display
from jarvis_workers.c2rust.commands.conversion_output import has_result
from jarvis_workers.c2rust.runs.optimize_results import OptimizeResult, root_of
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.run_kinds import StoredRun


def deliver_optimization(
    result: OptimizeResult, crate: Path | None, screen: Display, *, git_guard: bool, quiet: bool
) -> int:
    """Write the changed files of a crate, none for a dry run, and print the result; return the exit code."""
    files = result.deliver(crate, screen.tell) if crate else []
    if crate and git_guard:
        _commit(result, crate, screen)
    if not quiet:
        for line in result.lines():
            typer.echo(plain(line))
        for name in result.changed:
            typer.echo(plain(f"{'changed' if crate else 'would change'}: {name}"))
        if files:
            typer.echo(plain(f"files: {files[0].parent}{os.sep}"))
    return _conclude(result, screen)


def _commit(result: OptimizeResult, crate: Path, screen: Display) -> None:
    try:
        if branch := result.commit(crate):
            screen.tell(f"branch {branch} has a commit per pass")
    except UsageError as error:
        screen.tell(f"the passes are not committed to a branch: {error}")


def deliver(stored: StoredRun, delivery: Delivery, screen: Display) -> int:
    """Write the report and the changed files of a run that was resumed; return the exit code."""
    _, store, blobs, run = stored
    result = OptimizeResult(store, blobs, run)
    if has_result(run):
        write_report(result.render(delivery.form), delivery.output)
        result.deliver(root_of(run), screen.tell)
    return _conclude(result, screen)


def export(stored: StoredRun, directory: Path | None) -> int:
    """Write the changed files and the report to a directory; return the exit code. Raises UsageError without one."""
    return print_paths(OptimizeResult(stored.store, stored.blobs, stored.run).export(directory))


def conclude(stored: StoredRun, screen: Display) -> int:
    """Print the outcome of a run that has ended or is paused; return the exit code."""
    return _conclude(OptimizeResult(stored.store, stored.blobs, stored.run), screen)


def _conclude(result: OptimizeResult, screen: Display) -> int:
    run, code = result.run, exits.of_state(result.run.state)
    problems = result.report.errors if result.report else ()
    reason = "; ".join(filter(None, (run.reason, *problems[:1])))
    text = f"run {run.id} is {run.state}{f' ({reason})' if reason else ''}"
    if run.state == "paused":
        text += f"; continue with: jarvis runs resume {run.id}"
    screen.conclude(plain(text), well=code == exits.DONE)
    return code
