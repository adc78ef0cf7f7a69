"""Finish a command: write the report and the run's files, and return the exit code."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import typer

from jarvis_cli.profile_table import describe_times
from jarvis_cli.report_paths import relative_to
from jarvis_cli.report_target import Delivery, conclude, report_text, write_report
from jarvis_cli.run_outcome import shown_prefix
from jarvis_cli.status_output import Display
from jarvis_workers.errors import StoreUnavailable, UsageError
from jarvis_workers.sec.report import FORMATS
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.service.reports import reports
from jarvis_workers.service.reports.export import export
from jarvis_workers.service.reports.run_files import export_directory
from jarvis_workers.service.scan_runs import ScanRun
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

T = TypeVar("T")


def deliver(store: Store, blobs: Blobs, run: ScanRun, delivery: Delivery, screen: Display) -> int:
    """Write the report of a scan and the run's files; return the exit code."""
    body = retry_with_notice(lambda: reports.read_body(store, blobs, run), screen)
    report = retry_with_notice(lambda: pieces(store, blobs, run, body, delivery), screen)
    try:
        write_report(report, delivery.output)
    except UsageError:
        if delivery.is_stored:
            screen.tell(f"run {run.id} is {run.state}; print its report again with: jarvis runs report {run.id}")
        raise
    directory = export_directory(run)
    if directory:
        try:
            retry_with_notice(lambda: export(store, blobs, run, directory, body=body), screen)
        except UsageError as problem:
            screen.tell(str(problem))
    if reports.has_profile(run):
        for line in describe_times(reports.read_profile(store, blobs, run)):
            typer.echo(line, err=True)
    return conclude(run, body, delivery, screen)


def pieces(store: Store, blobs: Blobs, run: Run, body: ReportBody, delivery: Delivery) -> Iterator[str]:
    """Yield the report in the requested format; text for a terminal is limited in length and coloured."""
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
