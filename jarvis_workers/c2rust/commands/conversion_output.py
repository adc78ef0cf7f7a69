"""Output of runs that convert C projects: the report, the files of the project, the crate, and the exit code."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.progress import display
from jarvis_cli.kit.report_target import Delivery
from jarvis_cli.kit.run_results import print_paths, write_rendered
from jarvis_cli.kit.status_output import Display, write_line
from jarvis_workers.c2rust.commands.partial_crates import partial_crate
from jarvis_workers.c2rust.runs import conversion_files, conversion_results
from jarvis_workers.c2rust.runs.crate_branch import write_branch
from jarvis_workers.c2rust.runs.crate_directory import check_own, check_target
from jarvis_workers.c2rust.runs.partial_crate import has_partial_crate
from jarvis_workers.errors import JarvisError, StepFailed, UsageError
from jarvis_workers.paths import plain
from jarvis_workers.runs.budgets import resume_flags
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.store.values import Run

NO_CRATE = "no crate so far"


def has_result(run: Run) -> bool:
    """Return whether a run has a crate."""
    return run.state in {"done", "incomplete"}


def deliver_crate(stored: StoredRun, place: Path, screen: Display, *, branch: str | None, quiet: bool) -> int:
    """Write the crate and the files of a run, and print the result; return the exit code."""
    _, store, blobs, run = stored
    if has_result(run):
        crate = (
            f"{write_new_crate(stored, place, screen)}{os.sep}"
            if branch is None
            else write_branch(place, branch, conversion_files.read_crate_files(store, blobs, run))
        )
        files = conversion_files.export_conversion(store, blobs, run, say=screen.tell)
        if not quiet:
            for line in conversion_results.result_lines(store, blobs, run):
                typer.echo(plain(line))
            typer.echo(plain(f"crate: {crate}"))
            if files:
                typer.echo(plain(f"files: {files[0].parent}{os.sep}"))
    return conclude(stored, screen)


def deliver_partial_crate(stored: StoredRun, place: Path, *, quiet: bool) -> int:
    """Write the crate of a paused run, with what is accepted so far; return the exit code."""
    paused = stored.run

    def write(made: StoredRun) -> Path:
        return write_new_crate(made, place, screen, paused)

    with display(quiet) as screen:
        screen.conclude(f"run {paused.id} is paused ({paused.reason}); making the crate so far", well=True)
        conclude_partial_crate(stored, partial_crate(stored.settings, stored.store, paused, screen), write, screen)
    return exits.of_state(paused.state)


def export(stored: StoredRun, directory: Path | None) -> int:
    """Write the files of a run, and to another directory its crate as well, of a paused run what is accepted so far."""
    if directory and has_partial_crate(stored.run):
        return _export_partial_crate(stored, directory)
    _, store, blobs, run = stored
    return print_paths(conversion_files.export_conversion(store, blobs, run, directory, say=write_line))


def _export_partial_crate(stored: StoredRun, directory: Path) -> int:
    paused, place = stored.run, directory / conversion_files.CRATE_DIRECTORY
    check_own(place, paused.id)
    check_target(place)

    def write(made: StoredRun) -> Path:
        _, store, blobs, run = made
        print_paths(conversion_files.export_conversion(store, blobs, run, directory, say=screen.tell, paused=paused))
        return place

    with display(quiet=False) as screen:
        crate = partial_crate(stored.settings, stored.store, paused, screen)
        is_written = conclude_partial_crate(stored, crate, write, screen)
    return exits.of_state(paused.state) if is_written else exits.FAILED


def conclude_partial_crate(
    stored: StoredRun, made: AbstractContextManager[Run], write: Callable[[StoredRun], Path], screen: Display
) -> bool:
    """Write the crate that the run `made` has made of a paused run, and print the outcome; return whether there is one.

    `write` returns its directory. The last line says how to continue the paused run, even if making its crate fails or
    is interrupted.
    """
    is_written, parts = False, list[str]()
    try:
        with made as run:
            is_written, parts = has_result(run), list(_partial_outcome(stored._replace(run=run), write))
    except JarvisError as error:
        parts = parts or [f"{NO_CRATE}: {error}"]
    except KeyboardInterrupt:
        interrupted = "; ".join(parts) or f"{NO_CRATE}: interrupted"
        screen.conclude(explain_without_result(stored.run, interrupted), well=False)
        raise
    screen.conclude(explain_without_result(stored.run, "; ".join(parts)), well=False)
    return is_written


def _partial_outcome(made: StoredRun, write: Callable[[StoredRun], Path]) -> Iterator[str]:
    """Write the crate that a run has made of a paused one; yield the parts of the outcome."""
    _, store, blobs, run = made
    if has_result(run):
        yield f"crate so far: {write(made)}{os.sep}"
        yield from conversion_results.outcome_parts(conversion_results.read_conversion(store, blobs, run))
    else:
        yield f"{NO_CRATE}: merge {run.state}{f' ({reason})' if (reason := _reason(run)) else ''}"


def write_new_crate(stored: StoredRun, place: Path, screen: Display, paused: Run | None = None) -> Path:
    """Write the crate and return its directory: a new one if the user edited the old one during the run.

    The crate so far of a `paused` run gets a new one beside the crate of any other run.
    """
    _, store, blobs, run = stored
    try:
        conversion_files.write_crate(store, blobs, run, place, paused)
    except UsageError as error:
        screen.tell(str(error))
        place = place.with_name(f"{place.name}_{(paused or run).id}")
        conversion_files.write_crate(store, blobs, run, place, paused)
    return place


def deliver(stored: StoredRun, delivery: Delivery, screen: Display) -> int:
    """Write the report and the files of a run that has ended or is paused; return the exit code."""
    _, store, blobs, run = stored
    if has_result(run):
        write_rendered(stored, delivery)
        conversion_files.export_conversion(store, blobs, run, say=screen.tell)
        screen.tell(f"to write the crate: jarvis runs export {run.id} -d DIR")
    return conclude(stored, screen)


def conclude(stored: StoredRun, screen: Display) -> int:
    """Print the outcome of a run that has ended or is paused; return the exit code."""
    _, store, blobs, run = stored
    code = exits.of_state(run.state)
    if has_result(run):
        screen.conclude(conversion_results.outcome(store, blobs, run), well=code == exits.DONE)
    else:
        screen.conclude(explain_without_result(run), well=False)
    return code


def explain_without_result(run: Run, crate: str = "") -> str:
    """Return why a run has no result; `crate` says what became of the crate of a paused run."""
    reason = _reason(run)
    if run.state == "failed":
        return f"run {run.id} failed{f': {reason}' if reason else ''}"
    parts = [f"run {run.id} is {run.state}{f' ({reason})' if reason else ''}"]
    if run.state == "paused":
        if has_partial_crate(run):
            crate = crate or f"for the crate so far: jarvis runs export {run.id} -d DIR"
        resume = f"continue with: jarvis runs resume {run.id}{resume_flags(run)}"
        parts += [conversion_results.advice(run), crate, resume]
    return "; ".join(part for part in parts if part)


def _reason(run: Run) -> str:
    """Return the reason of a state; for a failed step, only its message, which is written for users."""
    before, found, message = (run.reason or "").partition(f"{StepFailed.__name__}: ")
    return message if found else before
