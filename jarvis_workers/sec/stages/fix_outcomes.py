"""The results of the jobs that fix findings, in the order of the findings.

This module avoids slow imports, since reports use it.
"""

from collections.abc import Iterator

from jarvis_workers.pipeline.history import read_result
from jarvis_workers.sec.fix.fixable import FixFinding, FixPlan
from jarvis_workers.sec.fix.result import NOT_DONE, FixResult
from jarvis_workers.sec.stages.fix_options import FixOptions, FixPayload
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import StageJob

# The stage of the jobs, the name of their blobs, and that of the artifact of the combined results.
STEP, RESULT, FIXES = "fix", "result", "fixes"
NOT_REACHED = "it was not reached before the run ended"


def results_so_far(options: FixOptions, fixes: list[StageJob], blobs: Blobs) -> Iterator[FixResult]:
    """Yield the result for each finding in order; one without a result is not done, with the reason."""
    findings = FixPlan.model_validate_json(blobs.read(options.findings)).findings
    done = dict[int, FixResult]()
    reasons = dict[int, str]()
    for job in fixes:
        payload = FixPayload.from_json(job.payload)
        blob = read_result(blobs, job.result).blobs.get(RESULT) if job.done else None
        if blob:
            done[payload.finding] = FixResult.model_validate_json(blobs.read(blob))
        elif job.reason:
            reasons |= dict.fromkeys((payload.finding, *payload.following), f"its job failed: {job.reason}")
    for number, finding in enumerate(findings):
        yield done.get(number) or _not_done(finding, reasons.get(number, NOT_REACHED))


def _not_done(finding: FixFinding, reason: str) -> FixResult:
    return FixResult(finding=finding, state=NOT_DONE, reason=reason)
