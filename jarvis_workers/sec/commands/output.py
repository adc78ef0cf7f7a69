"""Output of scans: the report, the run's files, and the exit code."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import typer

from jarvis_cli.kit.profile_table import describe_times
from jarvis_cli.kit.report_target import Delivery, write_report
from jarvis_cli.kit.run_results import print_paths
from jarvis_cli.kit.status_output import Display, Show
from jarvis_workers.errors import StoreUnavailable, UsageError
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.runs import first_delivery
from jarvis_workers.sec.commands.live_view import LiveView
from jarvis_workers.sec.commands.scan_outcome import conclude as conclude_scan
from jarvis_workers.sec.commands.scan_outcome import exit_code, exit_reason, shown_prefix
from jarvis_workers.sec.commands.scan_report import relative_to, report_text
from jarvis_workers.sec.report import FORMATS
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.sec.run_reports import reports
from jarvis_workers.sec.run_reports.run_export import export as export_files
from jarvis_workers.sec.run_reports.run_files import directory_for, export_directory
from jarvis_workers.sec.runs.scan_runs import scan_of
from jarvis_workers.store.engine import Store

T = TypeVar("T")


@contextmanager
def follow(screen: Display, store: Store, grows: bool) -> Iterator[Show]:
    """Yield a progress callback that also reports verdicts; with `grows` it updates the files in the tree."""
    view = LiveView(screen, store, grows=grows)
    try:
        yield view.show
    finally:
        view.close()


def report(stored: StoredRun, delivery: Delivery) -> int:
    """Write the report of a scan; return the exit code, and print the reason if it is not 0."""
    _, store, blobs, run = stored
    body = reports.read_body(store, blobs, scan_of(run))
    write_report(pieces(stored, body, delivery), delivery.output)
    code = exit_code(run, body, None)
    if code:
        typer.echo(f"jarvis: exit {code}: {exit_reason(run, body, None, code)}", err=True)
    return code


def conclude(stored: StoredRun, screen: Display) -> int:
    """Print the outcome of a scan, as the command that started it asked for; return the exit code."""
    _, store, blobs, run = stored
    body = retry_with_notice(lambda: reports.read_body(store, blobs, scan_of(run)), screen)
    first = Delivery(None, "json", first_delivery(run).fail_on, quiet=screen.is_quiet)
    return conclude_scan(run, body, first, screen)


def export(stored: StoredRun, directory: Path | None) -> int:
    """Write the files of a scan; return the exit code. Raises UsageError."""
    _, store, blobs, run = stored
    scan, place = scan_of(run), directory_for(run, directory)
    return print_paths(export_files(store, scan, reports.read_body(store, blobs, scan), place))


def deliver(stored: StoredRun, delivery: Delivery, screen: Display) -> int:
    """Write the report of a scan and the run's files; return the exit code."""
    _, store, blobs, ended = stored
    run = scan_of(ended)
    body = retry_with_notice(lambda: reports.read_body(store, blobs, run), screen)
    parts = retry_with_notice(lambda: pieces(stored, body, delivery), screen)
    try:
        write_report(parts, delivery.output)
    except UsageError:
        if delivery.is_stored:
            screen.tell(f"run {run.id} is {run.state}; print its report again with: jarvis runs report {run.id}")
        raise
    directory = export_directory(run)
    if directory:
        try:
            retry_with_notice(lambda: export_files(store, run, body, directory), screen)
        except UsageError as problem:
            screen.tell(str(problem))
    if reports.has_profile(run):
        for line in describe_times(reports.read_profile(store, blobs, run)):
            typer.echo(line, err=True)
    return conclude_scan(run, body, delivery, screen)


def pieces(stored: StoredRun, body: ReportBody, delivery: Delivery) -> Iterator[str]:
    """Yield the report in the requested format; text for a terminal is limited in length and coloured."""
    _, store, blobs, run = stored
    body, facts = reports.prepare(store, blobs, run, body, delivery.form)
    if delivery.form == "text":
        return report_text(body, facts, delivery, shown_prefix(run))
    return FORMATS[delivery.form](body, relative_to(facts, run, delivery.relative_to))


def retry_with_notice(do: Callable[[], T], screen: Display) -> T:
    """Call `do`, waiting while the store is unavailable, so that the report of an ended run is not lost."""
    try:
        return do()
    except StoreUnavailable as problem:
        from jarvis_workers.pipeline.store_retry import retry_store  # noqa: PLC0415  (slow to import, and rarely needed)

        screen.tell(f"{problem}; waiting")
        return retry_store(do)
