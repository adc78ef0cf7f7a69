"""`jarvis sec fast` for a small tree, without the database libraries, whose import would take longer than the scan."""

from collections.abc import Sequence

from jarvis_cli.kit.report_target import Delivery, write_report
from jarvis_cli.kit.status_output import Display, Quiet, Verbose
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.runs.sources import open_source
from jarvis_workers.sec.commands.scan_outcome import conclude, shown_prefix
from jarvis_workers.sec.commands.scan_report import relative_to, report_text
from jarvis_workers.sec.commands.scan_request import ScanRequest
from jarvis_workers.sec.report import FORMATS
from jarvis_workers.sec.report_json import issue_to_json
from jarvis_workers.sec.run_reports.enrichment import enrich_body, language_facts
from jarvis_workers.sec.run_reports.run_files import (
    HEURISTIC,
    PROGRESS,
    export_directory,
    progress_row,
    refuse_unwritable,
    write_files,
)
from jarvis_workers.sec.runs.small_scan import SmallScan, scan_small, small_executor
from jarvis_workers.settings import Settings


def scan_small_tree(request: ScanRequest, excluded: Sequence[str]) -> int | None:
    """Scan and report, and return the exit code; None for a large tree and in cases that need the regular path.

    `excluded` are lists of rules that an option excludes.
    """
    settings, delivery, target = request.settings, request.delivery, request.target
    if (
        settings.notify.webhook_url
        or settings.place == "cluster"
        or settings.rules.paths
        or settings.rules.learned
        or settings.scan.witness
        or target.is_address
    ):
        return None
    try:
        apart = [name.strip() for names in excluded for name in names.split(",") if name.strip()]
        with open_source(target.root) as source:
            done = scan_small(settings, request.of(source, small_executor()), apart)
    except UsageError:
        return None  # the regular path meets the same error and reports it
    return None if done is None else _deliver(settings, done, delivery, Quiet() if delivery.quiet else Verbose())


def _deliver(settings: Settings, done: SmallScan, delivery: Delivery, screen: Display) -> int:
    """Deliver the report as `deliver` does, for a run that is not in the store."""
    run, blobs = done.run, blobs_of(settings)
    body, facts = enrich_body(blobs, run, done.body, delivery.form), done.facts | language_facts(run)
    report = (
        report_text(body, facts, delivery, shown_prefix(run))
        if delivery.form == "text"
        else FORMATS[delivery.form](body, relative_to(facts, run, delivery.relative_to))
    )
    try:
        write_report(report, delivery.output)
    except UsageError:
        screen.tell(f"run {run.id} is {run.state}; print its report again with: jarvis runs report {run.id}")
        raise
    if directory := export_directory(run):
        issues = map(issue_to_json, done.body.issues)
        rows = {HEURISTIC: issues, PROGRESS: [progress_row(event, run) for event in done.events]}
        try:
            with refuse_unwritable(directory, run):
                write_files(run, directory, rows)
        except UsageError as problem:
            screen.tell(str(problem))
    return conclude(run, done.body, delivery, screen)
