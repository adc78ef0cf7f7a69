"""Output of runs that replace functions with libraries: the report, the files of the project, and the exit code."""

import os
from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.report_target import Delivery
from jarvis_cli.kit.run_results import print_paths, write_rendered
from jarvis_cli.kit.status_output import Display, write_line
from jarvis_workers.c2rust.commands.conversion_output import has_result
from jarvis_workers.c2rust.runs.replacement_results import ReplacementResult
from jarvis_workers.paths import plain
from jarvis_workers.runs.run_kinds import StoredRun

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
