"""Gates of pipelines: decide whether a scan passes, by all its findings or by those that are new since another scan.

The rules are those of `jarvis sec --fail-on` and `jarvis runs diff --fail-on`: findings take precedence over files that
were not checked, and a scan that left something unchecked never passes. Scans of different scope are not compared.
"""

from typing import NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.sec.report.body import AT_RISK
from jarvis_workers.sec.report_document import Issue, Summary
from jarvis_workers.sec.run_reports.diff import ReadBody, difference
from jarvis_workers.sec.run_reports.reports import read_body
from jarvis_workers.sec.run_reports.scan_series import newest_comparable
from jarvis_workers.sec.runs.scan_runs import ScanRun, find_scan, is_complete
from jarvis_workers.sec.severity import is_at_least
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store

LAST = "last"


class ScopesDiffer(UsageError):
    """Two scans cannot be compared because their scopes differ."""


class GateResult(NamedTuple):
    """The result: `outcome` is passed, failed (by `findings`) or incomplete; `baseline` is the scan compared with.

    `number` counts all of these findings, including those that the report does not list.
    """

    outcome: str
    reason: str
    number: int
    findings: list[Issue]
    baseline: ScanRun | None = None


def evaluate_gate(
    store: Store, blobs: Blobs, run: ScanRun, fail_on: str, baseline: str | None, *, read: ReadBody = read_body
) -> GateResult:
    """Evaluate the gate of a scan; `baseline` is a scan or LAST: the newest complete scan of equal scope before it.

    Without an earlier scan all findings count. Raises ScopesDiffer for another scan of different scope.
    """
    if not run.ended:
        return GateResult("incomplete", f"the scan is {run.state}: not everything has been checked", 0, [])
    before = None
    if baseline == LAST:
        before = newest_comparable(store, run)
    elif baseline:
        before = find_scan(store, baseline)
    summary = read(store, blobs, run).summary
    if before is None:
        number, findings = _all_findings(store, blobs, run, fail_on, read)
    else:
        sides = difference(store, blobs, before, run, read)
        if sides.scopes:
            raise ScopesDiffer(f"runs {before.id} and {run.id} have different scopes: {'; '.join(sides.scopes)}")
        findings = sides.difference.added(fail_on)
        number = len(findings)
    return _result(run, summary, fail_on, GateResult("failed", "", number, findings, before))


def _all_findings(store: Store, blobs: Blobs, run: ScanRun, fail_on: str, read: ReadBody) -> tuple[int, list[Issue]]:
    body = read(store, blobs, run)
    counts = body.summary.by_severity if body.summary.at_risk is None else body.summary.at_risk
    risky = [one for one in body.issues if one.status in ("heuristic", *AT_RISK) and is_at_least(one.severity, fail_on)]
    return sum(number for level, number in counts.items() if is_at_least(level, fail_on)), risky


def _result(run: ScanRun, summary: Summary, fail_on: str, counted: GateResult) -> GateResult:
    number, new = counted.number, "new " if counted.baseline or summary.baseline else ""
    since = f" since the baseline {summary.baseline.what}" if summary.baseline else ""
    if number:
        noun = "finding" if number == 1 else "findings"
        return counted._replace(reason=f"{number:,} {new}{noun} at or above {fail_on}{since}")
    if not is_complete(run, summary):
        gaps = f", {summary.files_not_checked:,} not checked" if summary.not_checked else ""
        return counted._replace(outcome="incomplete", reason=f"the scan is {run.state}{gaps}: findings may be missing")
    if altered := SecOptions.of(run).altered:
        reason = f"this change alters what is scanned: {', '.join(altered)}"
        return counted._replace(outcome="incomplete", reason=reason)
    return counted._replace(outcome="passed", reason=f"no {new}finding at or above {fail_on}{since}")
