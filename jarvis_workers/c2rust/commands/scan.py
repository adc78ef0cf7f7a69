"""Output of runs that read C projects: the report, the files of the project, and the exit code."""

import os
from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.report_target import Delivery
from jarvis_cli.kit.run_results import print_paths, write_rendered
from jarvis_cli.kit.status_output import Display, write_line
from jarvis_workers.c2rust.report.body import ScanBody
from jarvis_workers.c2rust.report.text import incomplete_line, not_checked_line, summary_line
from jarvis_workers.c2rust.runs import scan_results
from jarvis_workers.c2rust.runs.result_files import words_of_run
from jarvis_workers.paths import plain
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.store.values import Run
from jarvis_workers.words import Words

NAMES_MAX = 20


def deliver_symbols(stored: StoredRun, screen: Display, *, quiet: bool = False) -> int:
    """Write the files of a project, and print a summary of the scan; return the exit code."""
    _, store, blobs, run = stored
    body = scan_results.read_body(store, blobs, run)
    files = scan_results.export_symbols(store, blobs, run, say=screen.tell)
    if not quiet and run.ended:
        for line in _summary(body, words_of_run(run)):
            typer.echo(plain(line))
        if files:
            typer.echo(plain(f"files: {files[0].parent}{os.sep}"))
    return _conclude(run, body, screen)


def deliver(stored: StoredRun, delivery: Delivery, screen: Display) -> int:
    """Write the report and the files of a run that has ended or is paused; return the exit code."""
    _, store, blobs, run = stored
    write_rendered(stored, delivery)
    scan_results.export_symbols(store, blobs, run, say=screen.tell)
    return conclude(stored, screen)


def export(stored: StoredRun, directory: Path | None) -> int:
    """Write the files of a run; return the exit code. Raises UsageError."""
    _, store, blobs, run = stored
    return print_paths(scan_results.export_symbols(store, blobs, run, directory, say=write_line))


def conclude(stored: StoredRun, screen: Display) -> int:
    """Print the outcome of a run that has ended or is paused; return the exit code."""
    return _conclude(stored.run, scan_results.read_body(stored.store, stored.blobs, stored.run), screen)


def _conclude(run: Run, body: ScanBody, screen: Display) -> int:
    code = exits.of_state(run.state)
    screen.conclude(_outcome(run, body), well=code == exits.DONE)
    return code


def _outcome(run: Run, body: ScanBody) -> str:
    """Return the outcome of a run in one line."""
    text = f"run {run.id} is {run.state}"
    if body.not_checked:
        first = body.not_checked[0]
        text += f"; NOT CHECKED: {len(body.not_checked):,} of {body.units:,} units, first {first.file}: {first.reason}"
    elif body.files_not_read:
        text += "; not read: " + "; ".join(f"{one.file}: {one.reason}" for one in body.files_not_read[:NAMES_MAX])
    elif run.state != "done" and run.reason:
        text += f" ({run.reason})"
    if run.state == "incomplete":
        text += "; correct the compile commands, or accept incomplete units with --allow-errors"
    return text + (f"; continue with: jarvis runs resume {run.id}" if run.state == "paused" else "")


def _summary(body: ScanBody, say: Words) -> list[str]:
    lines = [summary_line(body, say)]
    if body.not_checked:
        lines.append(not_checked_line(body, say))
        lines += [f"  {unit.file}: {unit.reason}" for unit in body.not_checked[:NAMES_MAX]]
        if len(body.not_checked) > NAMES_MAX:
            number = f"{len(body.not_checked) - NAMES_MAX:,}"
            lines.append("  " + say("and {number} more", number=number))
    if body.incomplete:
        lines.append(incomplete_line(body, say))
    return lines
