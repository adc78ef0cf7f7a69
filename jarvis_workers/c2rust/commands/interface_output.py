"""Output of runs that write the bodies of a given interface: the report, the crate, and the exit code."""

import os
from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.report_target import Delivery
from jarvis_cli.kit.run_results import print_paths, write_rendered
from jarvis_cli.kit.status_output import Display
from jarvis_workers.c2rust.commands.conversion_output import explain_without_result, has_result, write_new_crate
from jarvis_workers.c2rust.runs import interface_results
from jarvis_workers.paths import plain
from jarvis_workers.runs.run_kinds import StoredRun

LINES_MAX = 20


def deliver_interface(stored: StoredRun, place: Path, screen: Display, *, quiet: bool) -> int:
    """Write the crate of a run, and print its result; return the exit code."""
    _, store, blobs, run = stored
    if has_result(run):
        crate = write_new_crate(stored, place, screen)
        if not quiet:
            for line in interface_results.interface_lines(store, blobs, run, LINES_MAX):
                typer.echo(plain(line))
            typer.echo(plain(f"crate: {crate}{os.sep}"))
    return conclude(stored, screen)


def deliver(stored: StoredRun, delivery: Delivery, screen: Display) -> int:
    """Write the report of a run that has ended or is paused; return the exit code."""
    if has_result(stored.run):
        write_rendered(stored, delivery)
        screen.tell(f"to write the crate: jarvis runs export {stored.run.id} -d DIR")
    return conclude(stored, screen)


def export(stored: StoredRun, directory: Path | None) -> int:
    """Write the crate of a run below a directory; return the exit code. Raises UsageError."""
    return print_paths(interface_results.export_interface(stored.store, stored.blobs, stored.run, directory))


def conclude(stored: StoredRun, screen: Display) -> int:
    """Print the outcome of a run that has ended or is paused; return the exit code."""
    _, store, blobs, run = stored
    code = exits.of_state(run.state)
    if has_result(run):
        result = interface_results.read_interface_result(store, blobs, run)
        screen.conclude(plain(f"run {run.id} is {run.state}: {result.summary}"), well=code == exits.DONE)
    else:
        screen.conclude(explain_without_result(run), well=False)
    return code
