"""Compare two reports, of runs or in files, and list what the later one did not check.

A missing finding is fixed only if the later scan searched for it: with its rule enabled, in a file that was scanned or
no longer exists.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from jarvis_workers.errors import SnapshotError, UsageError
from jarvis_workers.paths import shown
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.sec.finding import fingerprint_of
from jarvis_workers.sec.report.comparability import WHOLE, Looked, absence_reasons
from jarvis_workers.sec.report.diff import compare
from jarvis_workers.sec.report.diff_formats import Sides
from jarvis_workers.sec.report.rebase import below
from jarvis_workers.sec.report.scan_scope import scope_of
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.sec.run_reports.compared_trees import different_trees
from jarvis_workers.sec.run_reports.report_files import read_report_file
from jarvis_workers.sec.run_reports.reports import read_body
from jarvis_workers.sec.runs.scan_runs import ScanRun
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

Part = Mapping[str, Any]
ReadBody = Callable[[Store, Blobs, ScanRun], ReportBody]


class ReportSide(NamedTuple):
    """One side of a comparison: body, `run` part, scope of the scan, and notes on the limits of the comparison."""

    body: ReportBody
    part: Part
    looked: Looked
    notes: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        return self.looked.state


def difference(store: Store, blobs: Blobs, before: ScanRun, after: ScanRun, read: ReadBody = read_body) -> Sides:
    """Compare the reports of two scans; `read` may be a cache. Raises UsageError for scans with a baseline."""
    return compare_reports(report_of_run(store, blobs, before, read), report_of_run(store, blobs, after, read))


def compare_reports(before: ReportSide, after: ReportSide) -> Sides:
    """Compare two reports."""
    scopes = scope_of(before.part).differences(scope_of(after.part))
    trees, is_comparable = different_trees(before.part, after.part), _have_common_files(before, after)
    before, after = _from_the_top(before, after)
    difference = compare(before.body, after.body, absence_reasons(before.body, after.body, after.looked))
    notes = [*_notes("earlier", before), *_notes("later", after)]
    if trees and is_comparable:
        notes.insert(0, f"the scans are of different directories: {trees}")
    elif trees:
        scopes.append(f"tree, without a common file: {trees}")
    return Sides(before.part, after.part, difference, notes, scopes)


def report_of_run(store: Store, blobs: Blobs, run: ScanRun, read: ReadBody = read_body) -> ReportSide:
    """Return the report of a scan. Raises UsageError for a scan with a baseline."""
    body = read(store, blobs, run)
    if body.summary.baseline:
        raise UsageError(f"run {run.id} lists only findings new to its own baseline; compare runs without --baseline")
    return ReportSide(body, run_part(store, run), _looked(blobs, run))


def report_of_file(named: str) -> ReportSide:
    """Return the report in a JSON or SARIF file. Raises UsageError.

    A file does not record the minimum confidence of the scan: if findings below it were omitted, it is assumed to be
    the lowest confidence listed.
    """
    file = read_report_file(named)
    rules = file.run.get("rules")
    off = rules.get("off") if isinstance(rules, dict) else None
    confidences = [issue.candidate.confidence for issue in file.body.issues]
    least = min(confidences, default=1.0) if file.body.summary.below_min_confidence else 0.0
    looked = Looked(
        state=str(file.run.get("state")),
        min_confidence=least,
        off=off if isinstance(off, list) else (),
        scanned=lambda _: (),
    )
    notes = (f"{file.run['file']} is SARIF, which does not record excluded files",) if file.is_sarif else ()
    return ReportSide(file.body, file.run, looked, notes)


def _have_common_files(before: ReportSide, after: ReportSide) -> bool:
    """Return whether a file with findings of one scan is in the other; without findings, none is missing."""
    olds, news = ({issue.candidate.file for issue in side.body.issues} for side in (before, after))
    is_empty = not olds and not news
    return is_empty or bool(olds & news or after.looked.scanned(olds) or before.looked.scanned(news))


def _from_the_top(*reports: ReportSide) -> tuple[ReportSide, ...]:
    """Convert paths to be relative to the top of the repository if the roots of the scans differ."""
    prefixes = [str(report.part.get("path_prefix") or "") for report in reports]
    if len(set(prefixes)) == 1:
        return reports
    return tuple(
        report._replace(body=_moved(prefix, report.body)) for prefix, report in zip(prefixes, reports, strict=True)
    )


def _moved(prefix: str, body: ReportBody) -> ReportBody:
    return below(prefix, body).map_findings(
        lambda one: one._replace(
            fingerprint=fingerprint_of(one.candidate.file, one.candidate.pattern, one.candidate.evidence)
        )
    )


def _notes(which: str, report: ReportSide) -> Iterator[str]:
    summary = report.body.summary
    if report.state not in WHOLE:
        yield f"the {which} run is {report.state}: it did not check everything"
    if gaps := summary.files_not_checked:
        yield f"the {which} run did not fully check {gaps:,} of its files"
    if summary.not_listed:
        listed = f"{len(report.body.issues):,} highest-scoring findings"
        yield f"the {which} run lists only its {listed}: only these are compared"
    if more := summary.dismissed_not_listed:
        yield f"the {which} run does not list {more:,} of its dismissed findings: they are not compared"
    yield from report.notes


def _looked(blobs: Blobs, run: Run) -> Looked:
    def scanned(files: Collection[str]) -> Collection[str]:
        try:
            with open_snapshot(blobs, run.snapshot_id) as reader:
                return {name for entry in reader.files() if (name := shown(entry.path)) in files}
        except SnapshotError:
            return ()

    options = SecOptions.of(run)
    return Looked(run.state, options.min_confidence, options.rules.off, scanned, frozenset(options.paths or ()))
