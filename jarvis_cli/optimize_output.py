"""Output of runs that optimize a crate: the changed files, the report, and the exit code."""

import os
from pathlib import Path

import typer

from jarvis_cli import exits
from jarvis_cli.conversion_output import has_result
from jarvis_cli.report_target import Delivery, write_report
from jarvis_cli.status_output import Display
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.service.c2rust.optimize_results import OptimizeResult, root_of
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


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


def deliver_optimization_report(store: Store, blobs: Blobs, run: Run, delivery: Delivery, screen: Display) -> int:
    """Write the report and the changed files of a run that was resumed; return the exit code."""
    result = OptimizeResult(store, blobs, run)
    if has_result(run):
        write_report(result.render(delivery.form), delivery.output)
        result.deliver(root_of(run), screen.tell)
    return _conclude(result, screen)


def write_optimization_report(store: Store, blobs: Blobs, run: Run, delivery: Delivery) -> int:
    """Write the report of a run in a format; return the exit code. Raises UsageError."""
    write_report(OptimizeResult(store, blobs, run).render(delivery.form), delivery.output)
    return _exit_code(run)


def conclude_optimization(store: Store, blobs: Blobs, run: Run, screen: Display) -> int:
    """Print the outcome of a run that has ended or is paused; return the exit code."""
    return _conclude(OptimizeResult(store, blobs, run), screen)


def _conclude(result: OptimizeResult, screen: Display) -> int:
    run, code = result.run, _exit_code(result.run)
    problems = result.report.errors if result.report else ()
    reason = "; ".join(filter(None, (run.reason, *problems[:1])))
    text = f"run {run.id} is {run.state}{f' ({reason})' if reason else ''}"
    if run.state == "paused":
        text += f"; continue with: jarvis runs resume {run.id}"
    screen.conclude(plain(text), well=code == exits.DONE)
    return code


def _exit_code(run: Run) -> int:
    if run.state in {"cancelled", "failed"}:
        return exits.FAILED
    return exits.of_run(findings=False, incomplete=run.state != "done")
