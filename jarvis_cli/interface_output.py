"""Output of runs that write the bodies of a given interface: the report, the crate, and the exit code."""

import os
from pathlib import Path

import typer

from jarvis_cli import exits
from jarvis_cli.conversion_output import explain_without_result, has_result, run_exit_code, write_new_crate
from jarvis_cli.report_target import Delivery, write_report
from jarvis_cli.status_output import Display
from jarvis_workers.paths import plain
from jarvis_workers.service.c2rust import interface_results
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

LINES_MAX = 20


def deliver_interface(store: Store, blobs: Blobs, run: Run, place: Path, screen: Display, *, quiet: bool) -> int:
    """Write the crate of a run, and print its result; return the exit code."""
    if has_result(run):
        crate = write_new_crate(store, blobs, run, place, screen)
        if not quiet:
            for line in interface_results.interface_lines(store, blobs, run, LINES_MAX):
                typer.echo(plain(line))
            typer.echo(plain(f"crate: {crate}{os.sep}"))
    return conclude_interface(store, blobs, run, screen)


def deliver_interface_report(store: Store, blobs: Blobs, run: Run, delivery: Delivery, screen: Display) -> int:
    """Write the report of a run that has ended or is paused; return the exit code."""
    if has_result(run):
        write_interface_report(store, blobs, run, delivery)
        screen.tell(f"to write the crate: jarvis runs export {run.id} -d DIR")
    return conclude_interface(store, blobs, run, screen)


def write_interface_report(store: Store, blobs: Blobs, run: Run, delivery: Delivery) -> int:
    """Write the report of a run in a format; return the exit code. Raises UsageError."""
    write_report(interface_results.render_interface(store, blobs, run, delivery.form), delivery.output)
    return run_exit_code(run)


def conclude_interface(store: Store, blobs: Blobs, run: Run, screen: Display) -> int:
    """Print the outcome of a run that has ended or is paused; return the exit code."""
    code = run_exit_code(run)
    if has_result(run):
        result = interface_results.read_interface_result(store, blobs, run)
        screen.conclude(plain(f"run {run.id} is {run.state}: {result.summary}"), well=code == exits.DONE)
    else:
        screen.conclude(explain_without_result(run), well=False)
    return code
