"""Gates of pipelines: decide whether a run passes, by all its findings or by those that are new since another run.

The rules are those of `jarvis sec --fail-on` and `jarvis runs diff --fail-on`: findings take precedence over files that
were not checked, and a run that left something unchecked never passes.
"""

from typing import NamedTuple

from jarvis_workers.sec.finding import is_at_least
from jarvis_workers.sec.report.body import AT_RISK
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.service.reports.diff import ReadBody, difference
from jarvis_workers.service.reports.reports import read_body
from jarvis_workers.service.run_pages import newest_before
from jarvis_workers.service.runs import find_run
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.steps.sec.options import SecOptions
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

LAST = "last"


class GateResult(NamedTuple):
    """The result: `outcome` is passed, failed (by `findings`) or incomplete; `baseline` is the run compared with.

    `number` counts all of these findings, including those that the report does not list.
    """

    outcome: str
    reason: str
    number: int
    findings: list[Issue]
    baseline: Run | None = None


def evaluate_gate(
    store: Store, blobs: Blobs, run: Run, fail_on: str, baseline: str | None, *, read: ReadBody = read_body
) -> GateResult:
    """Evaluate the gate of a run; `baseline` is a run or LAST: the complete run of the same source before it.

    Without an earlier run all findings count. Raises UsageError for runs without findings to compare.
    """
    before = None
    if baseline == LAST:
        before = newest_before(store, run)
    elif baseline:
        before = find_run(store, baseline)
    if before is None:
        number, findings = _all_findings(store, blobs, run, fail_on, read)
    else:
        findings = difference(store, blobs, before, run, read).difference.added(fail_on)
        number = len(findings)
    return _result(run, fail_on, number, findings, before)


def _all_findings(store: Store, blobs: Blobs, run: Run, fail_on: str, read: ReadBody) -> tuple[int, list[Issue]]:
    body = read(store, blobs, run)
    counts = body.summary.by_severity if body.summary.at_risk is None else body.summary.at_risk
    risky = [one for one in body.issues if one.status in ("heuristic", *AT_RISK) and is_at_least(one.severity, fail_on)]
    return sum(number for level, number in counts.items() if is_at_least(level, fail_on)), risky


def _result(run: Run, fail_on: str, number: int, findings: list[Issue], before: Run | None) -> GateResult:
    new = "new " if before else ""
    if number:
        noun = "finding" if number == 1 else "findings"
        return GateResult("failed", f"{number:,} {new}{noun} at or above {fail_on}", number, findings, before)
    if run.state != "done":
        reason = f"the run is {run.state}: findings may be missing"
        return GateResult("incomplete", reason, 0, [], before)
    if altered := SecOptions.of(run).altered:
        return GateResult("incomplete", f"this change alters what is scanned: {', '.join(altered)}", 0, [], before)
    return GateResult("passed", f"no {new}finding at or above {fail_on}", 0, [], before)
