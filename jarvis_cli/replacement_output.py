"""Output of runs that replace functions with libraries: the report, the files of the project, and the exit code."""

import os

import typer

from jarvis_cli import exits
from jarvis_cli.conversion_output import has_result
from jarvis_cli.report_target import Delivery, write_report
from jarvis_cli.status_output import Display
from jarvis_workers.paths import plain
from jarvis_workers.service.c2rust.replacement_results import ReplacementResult
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

LINES_MAX = 20


def deliver_replacement(store: Store, blobs: Blobs, run: Run, screen: Display, *, quiet: bool) -> int:
    """Write the files of a run, and print its result; return the exit code."""
    result = ReplacementResult(store, blobs, run)
    files = result.export(say=screen.tell)
    if has_result(run) and not quiet:
        for line in result.lines(LINES_MAX):
            typer.echo(plain(line))
        if files:
            typer.echo(plain(f"files: {files[0].parent}{os.sep}"))
    return conclude_replacement(store, blobs, run, screen)


def deliver_replacement_report(store: Store, blobs: Blobs, run: Run, delivery: Delivery, screen: Display) -> int:
    """Write the report and the files of a run that has ended or is paused; return the exit code."""
    write_replacement_report(store, blobs, run, delivery)
    ReplacementResult(store, blobs, run).export(say=screen.tell)
    return conclude_replacement(store, blobs, run, screen)


def write_replacement_report(store: Store, blobs: Blobs, run: Run, delivery: Delivery) -> int:
    """Write the report of a run in a format; return the exit code. Raises UsageError."""
    write_report(ReplacementResult(store, blobs, run).render(delivery.form), delivery.output)
    return _exit_code(run)


def conclude_replacement(store: Store, blobs: Blobs, run: Run, screen: Display) -> int:
    """Print the outcome of a run that has ended or is paused; return the exit code."""
    code = _exit_code(run)
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


def _exit_code(run: Run) -> int:
    if run.state in {"cancelled", "failed"}:
        return exits.FAILED
    return exits.of_run(findings=False, incomplete=run.state != "done")
